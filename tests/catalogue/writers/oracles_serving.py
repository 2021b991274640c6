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


SERVING: Final[Mapping[str, Callable[[Object], Object]]] = {
    "cnpg_defaults": _cnpg_defaults,
    "kserve_predictor": _kserve_predictor,
}
