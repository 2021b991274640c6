"""How a definition derives a workload's status: the compiled form of its `statusDefinition`."""

from dataclasses import dataclass
from enum import StrEnum

from karta_interpreter.jq import Query


class Status(StrEnum):
    """The normalised statuses of a workload (`ResourceStatus` of Karta's API)."""

    INITIALIZING = "Initializing"
    RUNNING = "Running"
    COMPLETED = "Completed"
    FAILED = "Failed"
    DEGRADED = "Degraded"
    UNDEFINED = "Undefined"
    SUSPENDED = "Suspended"
    SUSPENDING = "Suspending"
    RESUMING = "Resuming"


MATCHING_ORDER = (
    Status.RESUMING,
    Status.SUSPENDING,
    Status.SUSPENDED,
    Status.RUNNING,
    Status.FAILED,
    Status.COMPLETED,
    Status.INITIALIZING,
    Status.DEGRADED,
)
"""The order in which Karta's library asks the mappings, and so the order of its answer."""


@dataclass(frozen=True, slots=True)
class ConditionsRule:
    """Where the conditions are, and how the fields of one are called."""

    query: Query
    type_field: str
    status_field: str
    message_field: str
    reason_field: str


@dataclass(frozen=True, slots=True)
class ConditionMatcher:
    """A condition that has to be there; an empty ``status`` or ``reason`` is not compared."""

    type: str
    status: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Matcher:
    """One way to have a status: everything that is given must hold; nothing given always holds."""

    phase: str = ""
    conditions: tuple[ConditionMatcher, ...] = ()
    expression: Query | None = None
    expected: str = ""


@dataclass(frozen=True, slots=True)
class StatusRules:
    """The compiled `statusDefinition`; ``mappings`` are in Karta's matching order, without empty ones."""

    phase: Query | None
    conditions: ConditionsRule | None
    mappings: tuple[tuple[Status, tuple[Matcher, ...]], ...]
