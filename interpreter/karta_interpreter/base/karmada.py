"""The operations that Karmada asks of an interpreter, and their parts of its API.

Each room that knows something about operations has one table of it, made by `by_operation`.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple, TypedDict, TypeVar, cast

from karta_interpreter.base.k8s import JSON, Object

GROUP: Final = "config.karmada.io"
VERSION: Final = "v1alpha1"
API_VERSION: Final = f"{GROUP}/{VERSION}"

_T = TypeVar("_T")


class Operation(StrEnum):
    """The operations that Karmada asks of an interpreter (``interpretercontext_types.go``)."""

    INTERPRET_REPLICA = "InterpretReplica"
    INTERPRET_COMPONENT = "InterpretComponent"
    REVISE_REPLICA = "ReviseReplica"
    REVISE_COMPONENTS = "ReviseComponents"
    """Of an open change (karmada-io/karmada#7830): no release of Karmada asks it."""
    RETAIN = "Retain"
    AGGREGATE_STATUS = "AggregateStatus"
    INTERPRET_STATUS = "InterpretStatus"
    INTERPRET_HEALTH = "InterpretHealth"
    INTERPRET_DEPENDENCY = "InterpretDependency"


def by_operation(  # noqa: PLR0913 - one for each operation
    *,
    interpret_replica: _T,
    interpret_component: _T,
    revise_replica: _T,
    revise_components: _T,
    retain: _T,
    aggregate_status: _T,
    interpret_status: _T,
    interpret_health: _T,
    interpret_dependency: _T,
) -> Mapping[str, _T]:
    """Return a table of operations.

    None has a default: the type checker asks every table for its part of a new operation.
    """
    return MappingProxyType(
        {
            Operation.INTERPRET_REPLICA: interpret_replica,
            Operation.INTERPRET_COMPONENT: interpret_component,
            Operation.REVISE_REPLICA: revise_replica,
            Operation.REVISE_COMPONENTS: revise_components,
            Operation.RETAIN: retain,
            Operation.AGGREGATE_STATUS: aggregate_status,
            Operation.INTERPRET_STATUS: interpret_status,
            Operation.INTERPRET_HEALTH: interpret_health,
            Operation.INTERPRET_DEPENDENCY: interpret_dependency,
        }
    )


class Results(TypedDict, total=False):
    """An answer: the results of one operation, by Karmada's names (``pkg/util/interpreter/rule.go``).

    Changed objects are complete. They share unchanged parts with the objects of the call.
    """

    replica: int
    requires: Object | None
    components: Sequence[Object] | None
    revised: Object
    retained: Object
    aggregatedStatus: Object
    status: JSON
    healthy: bool
    dependencies: Sequence[Object]


class Aggregation(Results, total=False):
    """The answer of AggregateStatus, with a text for each report that it leaves out."""

    unread: Sequence[str]


def unread_reports(results: Results) -> Sequence[str]:
    """Return a text for each report that an answer leaves out. Only AggregateStatus leaves out any."""
    return cast("Aggregation", results).get("unread", ())


class ScriptField(NamedTuple):
    """Where a customization keeps the script of an operation, and the function that is called in it."""

    field: str
    function: str
    parameters: tuple[str, ...]
    """Named as in the comments of Karmada's API."""
    results: tuple[str, ...]
    """Fields of `Results`. Karmada takes as many results of the function (``luavm/lua.go``)."""
    more: str = ""
    """The field of a call with the second argument."""

    @property
    def own_function(self) -> str:
        """The function of ``require("karta")`` that asks the Karta: ``getReplicas`` next to ``GetReplicas``."""
        return self.function[0].lower() + self.function[1:]


_TEMPLATE: Final = ("desiredObj",)
_MEMBER: Final = ("observedObj",)

SLOTS: Final = by_operation(
    interpret_replica=ScriptField("replicaResource", "GetReplicas", _TEMPLATE, ("replica", "requires")),
    interpret_component=ScriptField("componentResource", "GetComponents", _TEMPLATE, ("components",)),
    revise_replica=ScriptField(
        "replicaRevision", "ReviseReplica", (*_TEMPLATE, "desiredReplica"), ("revised",), "replicas"
    ),
    revise_components=ScriptField(
        "componentRevision", "ReviseComponents", (*_TEMPLATE, "components"), ("revised",), "components"
    ),
    retain=ScriptField("retention", "Retain", (*_TEMPLATE, *_MEMBER), ("retained",), "observed"),
    aggregate_status=ScriptField(
        "statusAggregation", "AggregateStatus", (*_TEMPLATE, "statusItems"), ("aggregatedStatus",), "items"
    ),
    interpret_status=ScriptField("statusReflection", "ReflectStatus", _MEMBER, ("status",)),
    interpret_health=ScriptField("healthInterpretation", "InterpretHealth", _MEMBER, ("healthy",)),
    interpret_dependency=ScriptField("dependencyInterpretation", "GetDependencies", _TEMPLATE, ("dependencies",)),
)
"""By operation, as ``pkg/apis/config/v1alpha1/resourceinterpretercustomization_types.go`` has them."""

CHANGED: Final = ("revised", "retained", "aggregatedStatus")
"""The results that are whole objects."""

COUNTING_OPERATIONS: Final = frozenset({Operation.INTERPRET_REPLICA, Operation.INTERPRET_COMPONENT})
"""The operations that answer with numbers of pods."""

OTHER_HALF: Final[Mapping[str, Operation]] = MappingProxyType(
    {
        Operation.INTERPRET_REPLICA: Operation.REVISE_REPLICA,
        Operation.REVISE_REPLICA: Operation.INTERPRET_REPLICA,
        Operation.INTERPRET_COMPONENT: Operation.REVISE_COMPONENTS,
        Operation.REVISE_COMPONENTS: Operation.INTERPRET_COMPONENT,
    }
)
"""The operations that count, each with the one that has to count alike."""

LIVE: Final = frozenset(operation for operation in Operation if SLOTS[operation].parameters == _MEMBER)
"""Operations that Karmada asks only of the object in a member cluster."""

# The operations by the names that their scripts have, of fields and of functions.
OF_SCRIPTS: Final = {name: operation for operation, slot in SLOTS.items() for name in (slot.field, slot.function)}
OWN_FUNCTIONS: Final = {SLOTS[operation].own_function: operation for operation in Operation}
"""The operations by the functions of ``require("karta")``."""
