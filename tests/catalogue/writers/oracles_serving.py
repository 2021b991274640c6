"""Writers of serving, data and infrastructure kinds."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from karta_interpreter.base.k8s.values import Object


def _cnpg_defaults(cluster: Any) -> Object:
    spec = cluster["spec"]
    if not spec.get("imageName") and "imageCatalogRef" not in spec:
        spec["imageName"] = "ghcr.io/cloudnative-pg/postgresql:18.1"
    bootstrap = spec.setdefault("bootstrap", {})
    for name in ("recovery", "pg_basebackup"):
        if name in bootstrap:
            bootstrap[name].setdefault("database", "app")
            bootstrap[name].setdefault("owner", bootstrap[name]["database"])
    if bootstrap.keys().isdisjoint({"recovery", "pg_basebackup"}):
        initdb = bootstrap.setdefault("initdb", {})
        initdb.setdefault("database", "app")
        initdb.setdefault("owner", initdb["database"])
        for name, value in {"encoding": "UTF8", "localeCollate": "C", "localeCType": "C"}.items():
            initdb.setdefault(name, value)
    spec.setdefault("affinity", {}).setdefault("podAntiAffinityType", "preferred")
    if "backup" in spec:
        spec["backup"].setdefault("target", "prefer-standby")
    spec.setdefault("logLevel", "info")
    queries = spec.setdefault("monitoring", {}).setdefault("customQueriesConfigMap", [])
    if all(query["name"] != "cnpg-default-monitoring" for query in queries):
        queries.insert(0, {"name": "cnpg-default-monitoring", "key": "queries"})
    slots = spec.setdefault("replicationSlots", {})
    slots.setdefault("highAvailability", {"enabled": True, "slotPrefix": "_cnpg_"})
    slots.setdefault("synchronizeReplicas", {"enabled": True})
    check = {"enabled": True, "requestTimeout": 1000, "connectionTimeout": 1000}
    spec.setdefault("probes", {}).setdefault("liveness", {}).setdefault("isolationCheck", check)
    parameters = spec.setdefault("postgresql", {}).setdefault("parameters", {})
    for name, value in {"archive_timeout": "5min", "wal_level": "logical", "max_worker_processes": "32"}.items():
        parameters.setdefault(name, value)
    parameters["archive_mode"] = "on"
    result: Object = cluster
    return result


def _kserve_predictor(service: Any) -> Object:
    """A predictor of a framework becomes a model, and its container gets a name."""
    predictor = service["spec"]["predictor"]
    framework = predictor.pop("sklearn", None)
    if framework is not None:
        predictor["model"] = {**framework, "modelFormat": {"name": "sklearn"}}
    predictor["model"].setdefault("name", "")
    predictor["model"].setdefault("resources", {})
    result: Object = service
    return result


def _milvus_defaults(milvus: Any) -> Object:
    """`Default` of a Milvus 2.6 that has started before, with values of the charts that stand for all of them."""
    spec = milvus["spec"]
    is_cluster = spec.setdefault("mode", "standalone") == "cluster"
    components = spec.setdefault("components", {})
    components.setdefault("image", "milvusdb/milvus:v2.6.4")
    components.setdefault("imageUpdateMode", "rollingUpgrade")
    components.setdefault("rollingMode", 2)
    _milvus_section(components, "standalone", 0 if is_cluster else 1)
    if is_cluster:
        for name in ("proxy", "mixCoord", "dataNode", "queryNode", "streamingNode"):
            _milvus_section(components, name, 1)
        components["streamingMode"] = True
    components.setdefault("updateConfigMapOnly", True)
    dependencies = spec.setdefault("dependencies", {})
    stream = dependencies.setdefault("msgStreamType", "pulsar" if is_cluster else "woodpecker")
    if stream in ("kafka", "pulsar"):
        part = dependencies.setdefault(stream, {})
        part |= {"brokerList": ["it-kafka.n:9092"]} if stream == "kafka" else {"endpoint": "it-pulsar-proxy.n:6650"}
        _in_cluster(part, "Retain")
    etcd = dependencies.setdefault("etcd", {})
    if not etcd.get("external"):
        etcd["endpoints"] = ["it-etcd.n:2379"]
        _in_cluster(etcd, "Retain")
    storage = dependencies.setdefault("storage", {})
    storage.setdefault("type", "MinIO")
    storage |= {"endpoint": "it-minio.n:9000", "secretRef": "it-minio"}
    _in_cluster(storage, "Retain")
    milvus["metadata"].setdefault("labels", {}).setdefault("milvus.io/operator-version", "1.3.8")
    milvus["metadata"].setdefault("annotations", {})["milvus.io/dependency-values-merged"] = "true"
    result: Object = milvus
    return result


def _milvus_section(components: Any, name: str, replicas: int) -> None:
    """A section as the operator's types write it, with the default of the CRD."""
    if name not in components:
        components[name] = {"paused": False, "probes": None, "securityContext": None}
        components[name] |= {"serviceType": "ClusterIP"} if name in ("standalone", "proxy") else {}
    components[name].setdefault("replicas", replicas)


def _in_cluster(dependency: Any, policy: str) -> None:
    part = dependency.setdefault("inCluster", {})
    part.setdefault("deletionPolicy", policy)
    part.setdefault("values", {"replicaCount": 3})


def _rolebasedgroup_spelling(group: Any) -> Object:
    """Go leaves out no struct: the metadata of a template, and the resources of a container."""
    spec = group["spec"]
    for role in spec["roles"]:
        if role.get("scalingAdapter"):
            role["replicas"] = 5
    patterns = [role.get(name) for role in spec["roles"] for name in ("standalonePattern", "leaderWorkerPattern")]
    parts = [part for role in spec["roles"] for part in role.get("customComponentsPattern", {}).get("components", ())]
    for owner in [*filter(None, patterns), *parts, *spec.get("roleTemplates", ())]:
        template = owner["template"]
        template.setdefault("metadata", {})
        for container in (*template["spec"]["containers"], *template["spec"].get("initContainers", ())):
            container.setdefault("resources", {})
    result: Object = group
    return result


SERVING: Final[Mapping[str, Callable[[Object], Object]]] = {
    "cnpg_defaults": _cnpg_defaults,
    "kserve_predictor": _kserve_predictor,
    "milvus_defaults": _milvus_defaults,
    "rolebasedgroup_spelling": _rolebasedgroup_spelling,
}
