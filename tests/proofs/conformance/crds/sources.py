"""The modules of the controllers of the catalogue's kinds, their CRDs, and the kinds whose CRD cannot be had."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import yaml

from tests.proofs.conformance.toolchain import cache_folder
from tests.proofs.reality import programs
from tests.proofs.reality.programs import Program
from tests.proofs.rig.toolchain import module_folder


class _Module(NamedTuple):
    """A Go module with CRDs that no controller is built from."""

    module: str
    version: str

    def source(self) -> Path:
        return module_folder(self.module, self.version)


_MODULES: Final[Mapping[str, Program | _Module]] = {
    "config/crd/bases/helm.toolkit.*.yaml": _Module("github.com/fluxcd/helm-controller", "v1.6.3"),
    "config/crd/bases/kustomize.toolkit.*.yaml": _Module("github.com/fluxcd/kustomize-controller", "v1.9.4"),
    "config/crd/bases/source.toolkit.*.yaml": _Module("github.com/fluxcd/source-controller", "v1.9.1"),
    "config/crds/kyverno/kyverno.io_*policies.yaml": _Module("github.com/kyverno/kyverno", "v1.19.0"),
    "k8s/crds/agents.*.yaml": programs.AGENT_SANDBOX,
    "k8s/crds/extensions.*_sandboxwarmpools.yaml": programs.AGENT_SANDBOX,
    "config/crd/bases/workload.*.yaml": programs.APPWRAPPER,
    "manifests/crds/rollout-crd.yaml": programs.ARGO_ROLLOUTS,
    "manifests/base/crds/full/argoproj.io_workflows.yaml": programs.ARGO_WORKFLOWS,
    "config/components/crd/bases/*.yaml": programs.JOBSET,
    "config/core/300-resources/service.yaml": _Module("knative.dev/serving", "v0.51.0"),
    "config/crd/full/**/serving.kserve.io_*inferenceservices.yaml": programs.KSERVE,
    "config/crd/bases/ray.io_*.yaml": programs.KUBERAY,
    "config/crd/bases/apps.kruise.io_*.yaml": programs.KRUISE,
    "config/crd/bases/disaggregatedset.*_disaggregatedsets.yaml": programs.LWS,
    "config/crd/bases/leaderworkerset.*.yaml": programs.LWS,
    "manifests/base/kubeflow.org_*.yaml": programs.MPI_OPERATOR,
    "charts/kthena/charts/workload/crds/*_modelservings.yaml": _Module("github.com/volcano-sh/kthena", "v1.0.0"),
    "config/crd/orchestration/orchestration.aibrix.ai_[rs][ot]*.yaml": _Module(
        "github.com/vllm-project/aibrix", "v0.7.0"
    ),
    "config/crd/bases/sparkoperator.*.yaml": _Module("github.com/kubeflow/spark-operator/v2", "v2.5.0"),
    "manifests/base/crds/kubeflow.org_*.yaml": programs.TRAINING_OPERATOR,
    "manifests/base/crds/trainer.*_trainjobs.yaml": programs.TRAINER,
    "config/300-crds/300-*run.yaml": _Module("github.com/tektoncd/pipeline", "v1.15.0"),
    "config/crd/bases/postgresql.cnpg.io_clusters.yaml": _Module("github.com/cloudnative-pg/cloudnative-pg", "v1.30.0"),
    "config/crds/v1/resources/elasticsearch.*_elasticsearches.yaml": _Module(
        "github.com/elastic/cloud-on-k8s/v3", "v3.5.0"
    ),
    "config/crd/volcano/bases/batch.*.yaml": programs.VOLCANO,
    "config/crd/jobflow/bases/flow.*_jobflows.yaml": programs.VOLCANO,
}
"""The module of each pattern of files."""

_NO_MODULE: Final = "no release of it could be had from the Go module proxy"
WITHOUT: Final[Mapping[str, str]] = {
    "apps.kruise.io/v1beta1 AdvancedCronJob": "new in OpenKruise 1.9, whose module has no checksum",
    "apps.kruise.io/v1beta1 BroadcastJob": "new in OpenKruise 1.9, whose module has no checksum",
    "apps.kruise.io/v1beta1 CloneSet": "newer than the releases of OpenKruise",
    "apps.kruise.io/v1beta1 DaemonSet": "new in OpenKruise 1.9, whose module has no checksum",
    "apps.kruise.io/v1beta1 SidecarSet": "new in OpenKruise 1.9, whose module has no checksum",
    "apps.kruise.io/v1beta1 UnitedDeployment": "newer than the releases of OpenKruise",
    "apps.nvidia.com/v1alpha1 NIMCache": _NO_MODULE,
    "apps.nvidia.com/v1alpha1 NIMService": _NO_MODULE,
    "flink.apache.org/v1beta1 FlinkBlueGreenDeployment": "the operator is not written in Go",
    "flink.apache.org/v1beta1 FlinkDeployment": "the operator is not written in Go",
    "flink.apache.org/v1beta1 FlinkSessionJob": "the operator is not written in Go",
    "grove.io/v1alpha1 PodCliqueSet": _NO_MODULE,
    "kafka.strimzi.io/v1 KafkaNodePool": "the operator is not written in Go",
    "kafka.strimzi.io/v1beta2 KafkaNodePool": "the operator is not written in Go",
    "kubeflow.org/v1 Notebook": _NO_MODULE,
    "machinelearning.seldon.io/v1 SeldonDeployment": _NO_MODULE,
    "milvus.io/v1beta1 Milvus": _NO_MODULE,
    "nvidia.com/v1alpha1 DynamoGraphDeployment": _NO_MODULE,
    "nvidia.com/v1beta1 DynamoGraphDeployment": _NO_MODULE,
    "slinky.slurm.net/v1beta1 NodeSet": _NO_MODULE,
    "spark.apache.org/v1 SparkApplication": "the operator is not written in Go",
    "workloads.x-k8s.io/v1alpha2 RoleBasedGroup": _NO_MODULE,
}
"""Why a kind is not checked, unless the caller has its CRD."""

BUILT_IN: Final = ("apps/", "batch/v1 ", "v1 ")
"""How the names of the kinds begin that have no CRD."""


_KUBEVIRT: Final = _Module("kubevirt.io/kubevirt", "v1.9.0")
_KUBEVIRT_SCHEMAS: Final = "pkg/virt-operator/resource/generate/components/validations_generated.go"
"""A file with the schema of each of its CRDs as a text of Go."""


def folders() -> list[Path]:
    """Return the sources of all modules; raises BuildError when one cannot be had."""
    return [module.source() for module in dict.fromkeys((*_MODULES.values(), _KUBEVIRT))]


def files() -> Iterator[Path]:
    """Yield the files of CRDs; raises BuildError when a module cannot be had."""
    for pattern, module in _MODULES.items():
        found = sorted(module.source().glob(pattern))
        assert found, f"{module} has no {pattern}"
        yield from found
    for kind in ("VirtualMachine", "VirtualMachineInstance"):
        yield _kubevirt_crd(kind)


def _kubevirt_crd(kind: str) -> Path:
    """Write the CRD that KubeVirt's operator makes of a schema in its source, and return the file."""
    _, _, rest = (_KUBEVIRT.source() / _KUBEVIRT_SCHEMAS).read_text().partition(f'"{kind.lower()}": `')
    schema = yaml.load(rest.partition("`")[0], yaml.CSafeLoader)
    assert schema, f"KubeVirt has no schema of {kind}"
    version = {"name": "v1", "served": True, "storage": True, "subresources": {"status": {}}, "schema": schema}
    names = {"kind": kind, "plural": f"{kind.lower()}s"}
    spec = {"group": "kubevirt.io", "names": names, "scope": "Namespaced", "versions": [version]}
    crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": spec}
    file = cache_folder() / f"{names['plural']}.kubevirt.io.yaml"
    file.write_text(yaml.dump({**crd, "metadata": {"name": f"{names['plural']}.kubevirt.io"}}, Dumper=yaml.CSafeDumper))
    return file
