"""The kinds that Argo CD judges itself. An exported check for such a kind replaces Argo CD's own.

``make conformance`` compares this record with the sources of Argo CD
(``tests/proofs/conformance/gitops/built_in.py``).
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Final

from karta_interpreter.base.k8s import GVK

VERSION: Final = "3.2.1"

KINDS: Final[Mapping[str, str]] = {
    "": "PersistentVolumeClaim Pod Service",
    "*.crossplane.io": "*",
    "*.upbound.io": "*",
    "acid.zalan.do": "postgresql",
    "addons.cluster.x-k8s.io": "ClusterResourceSet",
    "apiextensions.k8s.io": "CustomResourceDefinition",
    "apiregistration.k8s.io": "APIService",
    "apps": "DaemonSet Deployment ReplicaSet StatefulSet",
    "apps.3scale.net": "APIManager",
    "apps.kruise.io": "AdvancedCronJob BroadcastJob CloneSet DaemonSet StatefulSet",
    "apps.openshift.io": "DeploymentConfig",
    "argoproj.io": "AnalysisRun ApplicationSet CronWorkflow EventBus Experiment Rollout Workflow",
    "astra.netapp.io": (
        "AppVault Application Backup ExecHook ExecHooksRun ResourceBackup ResticVolumeBackup Schedule Snapshot"
    ),
    "autoscaling": "HorizontalPodAutoscaler",
    "batch": "CronJob Job",
    "beat.k8s.elastic.co": "Beat",
    "bitnami.com": "SealedSecret",
    "camel.apache.org": "Integration",
    "capabilities.3scale.net": (
        "ActiveDoc Application ApplicationAuth Backend CustomPolicyDefinition DeveloperAccount DeveloperUser "
        "OpenAPI Product ProxyConfigPromote Tenant"
    ),
    "cassandra.rook.io": "Cluster",
    "cdi.kubevirt.io": "DataVolume",
    "cert-manager.io": "Certificate ClusterIssuer Issuer",
    "certmanager.k8s.io": "Certificate Issuer",
    "clickhouse-keeper.altinity.com": "ClickHouseKeeperInstallation",
    "clickhouse.altinity.com": "ClickHouseInstallation",
    "cloudfront.aws.crossplane.io": "Distribution",
    "cloudfunctions.cnrm.cloud.google.com": "CloudFunctionsFunction",
    "cloudscheduler.cnrm.cloud.google.com": "CloudSchedulerJob",
    "cluster.x-k8s.io": "Cluster Machine MachineDeployment MachineHealthCheck MachinePool",
    "compute.cnrm.cloud.google.com": "ComputeDisk",
    "controlplane.cluster.x-k8s.io": "AWSManagedControlPlane",
    "coralogix.com": "Alert RecordingRuleGroupSet",
    "core.humio.com": "HumioAction HumioAlert HumioCluster HumioIngestToken HumioParser HumioRepository HumioView",
    "core.spinkube.dev": "SpinApp",
    "datadoghq.com": "DatadogMetric",
    "db.atlasgo.io": "AtlasMigration AtlasSchema",
    "elasticsearch.k8s.elastic.co": "Elasticsearch",
    "extensions": "Ingress",
    "external-secrets.io": "ClusterExternalSecret ClusterSecretStore ExternalSecret PushSecret SecretStore",
    "flagger.app": "Canary",
    "flink.apache.org": "FlinkDeployment",
    "game.kruise.io": "GameServer GameServerSet",
    "gateway.networking.k8s.io": "GRPCRoute Gateway HTTPRoute",
    "gateway.solo.io": "Gateway MatchableHttpGateway RouteOption RouteTable VirtualHostOption VirtualService",
    "gloo.solo.io": "Proxy Settings Upstream UpstreamGroup",
    "grafana.integreatly.org": "Grafana GrafanaDashboard GrafanaDatasource GrafanaFolder",
    "helm.toolkit.fluxcd.io": "HelmRelease",
    "iam.aws.crossplane.io": "Policy Role RolePolicyAttachment",
    "iam.cnrm.cloud.google.com": "IAMPartialPolicy IAMPolicy IAMPolicyMember IAMServiceAccount",
    "iammanager.keikoproj.io": "Iamrole",
    "image.toolkit.fluxcd.io": "ImagePolicy ImageRepository ImageUpdateAutomation",
    "install.istio.io": "IstioOperator",
    "jaegertracing.io": "Jaeger",
    "k8s.keycloak.org": "Keycloak",
    "k8s.mariadb.com": "Backup Database Grant MariaDB SqlJob User",
    "kafka.banzaicloud.io": "KafkaCluster",
    "kafka.strimzi.io": "Kafka KafkaBridge KafkaConnect KafkaConnector KafkaTopic KafkaUser",
    "karpenter.k8s.aws": "EC2NodeClass",
    "karpenter.sh": "NodePool",
    "keda.sh": "ScaledObject",
    "kiali.io": "Kiali",
    "kubernetes-client.io": "ExternalSecret",
    "kubevirt.io": "VirtualMachine VirtualMachineInstance",
    "kustomize.toolkit.fluxcd.io": "Kustomization",
    "kyverno.io": "Policy",
    "lifecycle.keptn.sh": "KeptnAppVersion KeptnEvaluation KeptnTask KeptnWorkloadInstance KeptnWorkloadVersion",
    "logstash.k8s.elastic.co": "Logstash",
    "mariadb.mmontes.io": "MariaDB",
    "metrics.keptn.sh": "Analysis KeptnMetric",
    "minio.min.io": "Tenant",
    "monitoring.coreos.com": "Prometheus",
    "networking.gke.io": "ManagedCertificate",
    "networking.k8s.io": "Ingress",
    "notification.toolkit.fluxcd.io": "Receiver",
    "numaflow.numaproj.io": "InterStepBufferService MonoVertex Pipeline Vertex",
    "numaplane.numaproj.io": "ISBServiceRollout MonoVertexRollout NumaflowControllerRollout PipelineRollout",
    "ocs.openshift.io": "StorageCluster",
    "onepassword.com": "OnePasswordItem",
    "openfaas.com": "Function",
    "opentelemetry.io": "OpenTelemetryCollector",
    "operator.knative.dev": "KnativeEventing KnativeServing",
    "operator.openshift.io": "IngressController",
    "operators.coreos.com": "Subscription",
    "pkg.crossplane.io": "Provider",
    "platform.confluent.io": "Connect Connector ControlCenter Kafka KsqlDB SchemaRegistry Zookeeper",
    "policy": "PodDisruptionBudget",
    "policy.open-cluster-management.io": "CertificatePolicy ConfigurationPolicy OperatorPolicy Policy",
    "postgresql.cnpg.io": "Cluster",
    "proclaim.dogmatiq.io": "DNSSDServiceInstance",
    "projectcontour.io": "ExtensionService HTTPProxy",
    "promoter.argoproj.io": "ArgoCDCommitStatus ChangeTransferPolicy CommitStatus PromotionStrategy PullRequest",
    "psmdb.percona.com": "PerconaServerMongoDB",
    "pubsub.cnrm.cloud.google.com": "PubSubSubscription PubSubTopic",
    "pxc.percona.com": "PerconaXtraDBCluster",
    "rabbitmq.com": "Binding Exchange Permission Policy Queue RabbitmqCluster Shovel User Vhost",
    "rds.aws.crossplane.io": "DBCluster DBInstance",
    "resourcemanager.cnrm.cloud.google.com": "Project",
    "rollouts.kruise.io": "Rollout",
    "route.openshift.io": "Route",
    "route53.aws.crossplane.io": "ResourceRecordSet",
    "s3.aws.crossplane.io": "Bucket",
    "serving.knative.dev": "Service",
    "serving.kserve.io": "InferenceService",
    "snapshot.storage.k8s.io": "VolumeSnapshot VolumeSnapshotContent",
    "solr.apache.org": "SolrCloud",
    "source.toolkit.fluxcd.io": "Bucket GitRepository HelmChart HelmRepository OCIRepository",
    "sparkoperator.k8s.io": "SparkApplication",
    "spot.io": "SpotDeployment",
    "sql.cnrm.cloud.google.com": "SQLDatabase SQLInstance",
    "stacks.crossplane.io": "ClusterStackInstall",
    "storage.cnrm.cloud.google.com": "StorageBucket StorageBucketAccessControl StorageDefaultObjectAccessControl",
    "tower.ansible.com": "AnsibleJob",
    "trident.netapp.io": "TridentBackendConfig TridentOrchestrator",
    "work.karmada.io": "ClusterResourceBinding ResourceBinding",
    "zookeeper.pravega.io": "ZookeeperCluster",
}
"""The kinds of each group, from ``resource_customizations/*/*/health.lua`` of Argo CD and ``GetHealthCheckFunc`` of its
gitops-engine. ``*`` stands for any text."""


def judges(gvk: GVK) -> bool:
    """Return whether Argo CD has a check of its own for a kind, in all versions of the kind.

    >>> judges(GVK("apps.kruise.io", "v1beta1", "StatefulSet")), judges(GVK("iam.aws.crossplane.io", "v1", "User"))
    (True, True)
    >>> judges(GVK("ray.io", "v1", "RayJob"))
    False
    """
    for group, kinds in KINDS.items():
        if fnmatchcase(gvk.group, group) and any(fnmatchcase(gvk.kind, kind) for kind in kinds.split()):
            return True
    return False
