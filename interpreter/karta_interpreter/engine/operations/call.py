"""The question and the answer of an operation, independent of any wire format."""

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from msgspec import Struct, structs

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.findings import did_you_mean
from karta_interpreter.base.k8s import (
    CLAIM_TEMPLATES,
    DEVICE_CLASSES,
    GVK,
    JSON,
    MOST_REPLICAS,
    OF_CLASSES,
    Counting,
    NewObject,
    Object,
    edit,
    type_name,
)
from karta_interpreter.base.karmada import LIVE, SLOTS, Operation
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.engine.operations.status_bounds import beyond_bounds


class Options(Struct, frozen=True):
    """Settings that change answers.

    ``resource_quota_estimate`` mirrors Karmada's feature gate ``ResourceQuotaEstimate``: requirements then name the
    priority class, and InterpretReplica's requirements also the namespace. ``pod_requests`` says how the resources of a
    pod are counted. ``device_classes`` has what devices of claims count as: ``CLASS=RESOURCE``, or `OF_CLASSES`.
    ``count_pods`` names the kinds whose pods are counted although their definition has a unit.

    ``empty_workload_propagation`` mirrors karmada-scheduler's option of that name. Without it the scheduler gives no
    cluster 0 replicas of a workload. Karmada still asks a server for a revision to 0 if the workload is counted for the
    first time: it writes the Works (``ensureWork`` in ``pkg/controllers/binding/common.go``) while the scheduler
    divides, and for as long as that finds no room. A server refuses it then, or all pods would end.
    """

    resource_quota_estimate: bool = False
    pod_requests: Counting = Counting.SCHEDULER
    device_classes: tuple[str, ...] = ()
    count_pods: tuple[str, ...] = ()
    empty_workload_propagation: bool = False

    def counting(self, definition: Definition) -> Definition:
        """Return a definition as its replicas are to be counted."""
        if not self.count_pods or definition.annotations.unit is None:
            return definition
        names = {name.lower() for name in self.count_pods}
        own_names = (*definition.gvk.names, f"{definition.gvk.api_version}/*".lower())
        return definition if names.isdisjoint(own_names) else definition.in_pods

    @property
    def devices(self) -> Mapping[str, str] | None:
        """The resource of each class of devices, None if claims count nothing."""
        return _resources(self.device_classes) if self.device_classes else None

    @property
    def looked_up(self) -> tuple[GVK, ...]:
        """The kinds of the objects that answers read next to the references of a definition."""
        return (*CLAIM_TEMPLATES, *DEVICE_CLASSES) if self.device_classes else ()

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> "Options":
        """Return the options among settings by their names, those of a server or their values as JSON.

        >>> Options.of({"pod_requests": "karmada", "port": 8443})
        Options(resource_quota_estimate=False, pod_requests=<Counting.KARMADA: 'karmada'>, device_classes=(), \
count_pods=(), empty_workload_propagation=False)
        """
        default: dict[str, Any] = structs.asdict(cls())
        given = {name: type(value)(settings.get(name, value)) for name, value in default.items()}
        texts = {name: tuple(map(str, given[name])) for name in ("device_classes", "count_pods")}
        return cls(**given | texts)


DEFAULT_OPTIONS = Options()


@lru_cache(8)
def _resources(device_classes: tuple[str, ...]) -> Mapping[str, str]:
    pairs = (text.partition("=") for text in device_classes if text != OF_CLASSES)
    return MappingProxyType({name: resource for name, _, resource in pairs})


class StatusItem(Struct, frozen=True):
    """The report of one member cluster about an object."""

    cluster: str
    status: JSON = None
    applied: bool = True
    message: str = ""
    health: str = ""
    unread: str = ""
    """Why the status cannot be read, if it is beyond bounds."""

    @classmethod
    def of(cls, value: JSON, path: str, *, is_bounded: bool = False) -> "StatusItem":
        """Read Karmada's ``AggregatedStatusItem``. ``path`` is its path for the error about a wrong type.

        A decoder that refuses large numbers has made an item that ``is_bounded``.

        >>> StatusItem.of({"clusterName": "member1", "applied": True}, "items[0]").cluster
        'member1'
        """
        if not isinstance(value, dict):
            raise InterpretationError(f"{path} must be an object, but is {type_name(value)}", code=400)
        get, status = value.get, value.get("status")
        # Go omits false from the JSON.
        cluster, applied, message = get("clusterName", ""), get("applied", False), get("appliedMessage", "")
        health = get("health", "")
        if not (type(cluster) is type(message) is type(health) is str and type(applied) is bool):
            raise _mistyped(value, path)
        return cls(cluster, status, applied, message, health, "" if is_bounded else beyond_bounds(status))

    @classmethod
    def written(cls, value: JSON, path: str, clusters: set[str], *, needs_cluster: bool = True) -> "StatusItem":
        """Read an item that a person or a program wrote, and add its cluster to ``clusters``.

        A field or health that Karmada does not know is an error. A second item for one of the ``clusters`` is one, too.

        >>> StatusItem.written({"cluster": "member1", "status": {}}, "items[0]", set())
        Traceback (most recent call last):
        ...
        karta_interpreter.base.errors.InterpretationError: items[0] has no field cluster; did you mean clusterName?
        """
        fields = value if isinstance(value, dict) else {}
        if "apiVersion" in fields or fields.keys().isdisjoint(ITEM_FIELDS):
            raise InterpretationError(f"{path} is not what a cluster reports: {_FORM}")
        for field in fields:
            if field not in ITEM_FIELDS:
                hint = did_you_mean(str(field), ITEM_FIELDS, f"a field of the status belongs below status: {_FORM}")
                raise InterpretationError(f"{path} has no field {field}; {hint}")
        item = cls.of(value, path)
        if problem := item.problem(clusters, needs_cluster=needs_cluster):
            raise InterpretationError(f"{path}{problem}")
        clusters.add(item.cluster)
        return item

    def problem(self, clusters: Collection[str], *, needs_cluster: bool) -> str:
        """Return what is wrong with an item that a person or a program wrote, or ""."""
        fields = self.status if isinstance(self.status, dict) else {}
        if _ENTRIES in fields:
            return f".status has {_ENTRIES}, which is a binding's: {_ALONE}"
        if needs_cluster and not self.cluster:
            return " has no clusterName, the cluster that reports the status"
        if self.cluster and self.cluster in clusters:
            return f" is a second one of {self.cluster}: each cluster has one"
        if self.health not in ("", *_HEALTH):
            what = "not what Karmada says (a health in the status stays there)"
            return f".health is {self.health}, {what}; {did_you_mean(self.health, _HEALTH)}"
        if {"apiVersion", "kind", "metadata"} <= fields.keys():
            return ".status holds a whole object: write what is below its own status"
        return ""

    def to_json(self) -> Object:
        """Return the item as Karmada writes it, without empty fields.

        >>> StatusItem("member1", {"active": 1}).to_json()
        {'clusterName': 'member1', 'status': {'active': 1}, 'applied': True}
        """
        item: NewObject = {"clusterName": self.cluster}
        if self.status is not None:
            item["status"] = self.status
        fields = {"applied": self.applied, "appliedMessage": self.message, "health": self.health}
        return item | {field: value for field, value in fields.items() if value}


def _mistyped(item: Object, path: str) -> InterpretationError:
    field, expected = next(
        (field, expected)
        for field, expected in _ITEM_TYPES.items()
        if type(item.get(field, expected())) is not expected
    )
    message = f"{path}.{field} must be {type_name(expected())}, but is {type_name(item[field])}"
    return InterpretationError(message, code=400)


_FORM = "{clusterName: NAME, status: {…}}, as in a binding's status.aggregatedStatus"
_HEALTH = ("Healthy", "Unhealthy", "Unknown")
_ITEM_TYPES = {"clusterName": str, "applied": bool, "appliedMessage": str, "health": str}
_ENTRIES, _ALONE = "aggregatedStatus", "write its entries alone, each after a dash"
ITEM_FIELDS = (*_ITEM_TYPES, "status")


class TargetComponent(NamedTuple):
    """The pods of one component in a cluster (``TargetComponent`` in ``pkg/apis/work/v1alpha2/binding_types.go``)."""

    name: str
    replicas: int

    @classmethod
    def several(cls, value: JSON, path: str) -> tuple[Self, ...]:
        """Read components from a JSON list. ``path`` is its path for the error about a wrong type.

        >>> TargetComponent.several([{"name": "worker", "replicas": 3}], "components")
        (TargetComponent(name='worker', replicas=3),)
        """
        listed = value if isinstance(value, list) else [None]
        components = [(edit.get(entry, ("name",)), edit.get(entry, ("replicas",))) for entry in listed]
        if not all(type(name) is str and type(count) is int for name, count in components):
            form = 'a list of names with a whole number of replicas each, as [{"name": "worker", "replicas": 8}]'
            raise InterpretationError(f"{path} must be {form}", code=400)
        return tuple(cls(*component) for component in components)


class Call(Struct, frozen=True):
    """One question about one object."""

    operation: Operation
    object: Object
    """The resource template or, for InterpretStatus and InterpretHealth, the live object. It is an ``orjson.Fragment``
    if only a script reads it.
    """
    observed: Object | None = None
    """The member's object, which Retain needs."""
    replicas: int | None = None
    """The number that ReviseReplica needs."""
    items: tuple[StatusItem, ...] = ()
    """The statuses of the clusters, for AggregateStatus."""
    components: Sequence[TargetComponent] | None = None
    """The components of one cluster, which ReviseComponents needs."""

    @classmethod
    def of(
        cls,
        operation: Operation,
        template: Object,
        observed: Object,
        replicas: int | None = None,
        items: tuple[StatusItem, ...] = (),
        components: Sequence[TargetComponent] | None = None,
    ) -> "Call":
        """Return the call of one operation as Karmada makes it from a template and the object of a member cluster."""
        arguments: Mapping[str, Any] = {
            "observed": observed, "replicas": replicas, "items": items, "components": components
        }  # fmt: skip
        subject, more = observed if operation in LIVE else template, SLOTS[operation].more
        if not more:
            return cls(operation, subject)
        return cls(operation, subject, **{more: arguments[more]})

    @property
    def wanted(self) -> int:
        """The replicas that ReviseReplica should write. Raises InterpretationError without such a number."""
        if self.replicas is None or not 0 <= self.replicas <= MOST_REPLICAS:
            found = "missing" if self.replicas is None else self.replicas
            raise InterpretationError(
                f"replicas must be a number from 0 up to {MOST_REPLICAS}, but is {found}", code=400
            )
        return self.replicas

    @property
    def assigned(self) -> Sequence[TargetComponent]:
        """The components that ReviseComponents should write. Raises InterpretationError without any."""
        if self.components is None:
            raise InterpretationError("ReviseComponents needs components, each with its name and replicas", code=400)
        return self.components

    @property
    def member(self) -> Object:
        """The member's object, with the fields for Retain to keep. Raises InterpretationError without one."""
        if self.observed is None:
            raise InterpretationError("Retain needs the observed object", code=400)
        return self.observed
