"""What an operation is asked and what it answers, apart from any wire format."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from interpreter.k8s.values import JSON, Object


class Operation(StrEnum):
    """The operations that Karmada asks of an interpreter (``interpretercontext_types.go``)."""

    INTERPRET_REPLICA = "InterpretReplica"
    INTERPRET_COMPONENT = "InterpretComponent"
    REVISE_REPLICA = "ReviseReplica"
    RETAIN = "Retain"
    AGGREGATE_STATUS = "AggregateStatus"
    INTERPRET_STATUS = "InterpretStatus"
    INTERPRET_HEALTH = "InterpretHealth"
    INTERPRET_DEPENDENCY = "InterpretDependency"


@dataclass(frozen=True, slots=True)
class Options:
    """Settings that change answers.

    ``resource_quota_estimate`` mirrors Karmada's feature gate ``ResourceQuotaEstimate``: requirements then name
    the priority class, and those of InterpretReplica the namespace.
    """

    resource_quota_estimate: bool = False


DEFAULT_OPTIONS = Options()


@dataclass(frozen=True, slots=True)
class StatusItem:
    """What one member cluster reports of an object (Karmada's ``AggregatedStatusItem``)."""

    cluster: str
    status: JSON = None
    applied: bool = True
    message: str = ""
    health: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """One question about one object.

    ``object`` is the resource template or, for InterpretStatus and InterpretHealth, the live object; Retain also
    needs ``observed``, ReviseReplica needs ``replicas`` and AggregateStatus reads ``items``.
    """

    operation: Operation
    object: Object
    observed: Object | None = None
    replicas: int | None = None
    items: tuple[StatusItem, ...] = ()


Results: TypeAlias = Mapping[str, JSON]
"""An answer by Karmada's names: ``replica`` and ``requires``, ``components``, ``revised``, ``retained``,
``aggregatedStatus``, ``status``, ``healthy`` or ``dependencies``. Changed objects come whole and share what did
not change with the object that was asked about."""
