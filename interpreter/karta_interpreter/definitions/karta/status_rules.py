"""How the status of a workload is derived: the compiled form of a `statusDefinition`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Final, NoReturn

from msgspec import Struct

from karta_interpreter.base.findings import did_you_mean
from karta_interpreter.base.k8s import JSON
from karta_interpreter.languages.jq import Query

if TYPE_CHECKING:
    from karta_interpreter.definitions.karta.model import ConditionMatcher


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

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        meaning = MEANINGS.get(str(value).lower(), str(value)).title()
        raise ValueError(f"there is no status {value!r}; {did_you_mean(meaning, cls)}")


_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "initializing": (
        *("pending", "creating", "created", "initializing", "starting", "submitted", "provisioning", "queued"),
        *("waiting", "scheduling", "deploying", "notready", "new"),
    ),
    "running": ("running", "ready", "active", "healthy", "available", "successful", "deployed"),
    "completed": ("completed", "complete", "succeeded", "success", "finished", "done"),
    "failed": ("failed", "failure", "error", "failing"),
    "degraded": ("degraded", "unhealthy"),
    "suspended": ("suspended", "paused", "stopped"),
    "suspending": ("suspending", "pausing", "stopping"),
    "resuming": ("resuming",),
}
MEANINGS: Final = {word: status for status, words in _WORDS.items() for word in words}
"""The usual meaning of phases by their names in lower case: fields of `statusMappings`."""

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
"""The order in which Karta's library tries the mappings, and so the order of its answer."""


_TEXTS: Final = re.compile(r'"([^"\\]*)"')

FAILING = frozenset({Status.FAILED, Status.DEGRADED})
AT_WORK = frozenset({Status.RUNNING, Status.COMPLETED, Status.SUSPENDED})
BEYOND_REST = frozenset({Status.COMPLETED, Status.FAILED, Status.SUSPENDED})
"""The statuses to which a wish to rest adds nothing: an end outlives it."""
TRANSITIONAL = frozenset({Status.INITIALIZING, Status.SUSPENDING, Status.RESUMING})


class ConditionsRule(Struct, frozen=True):
    """Where the conditions are, and the names of their fields. ``status_field`` is empty if they have no status."""

    query: Query
    type_field: str
    status_field: str
    message_field: str
    reason_field: str


class Matcher(Struct, frozen=True):
    """One way to have a status. Every given requirement must hold. Without any, it always holds."""

    phase: str = ""
    conditions: "tuple[ConditionMatcher, ...]" = ()
    expression: Query | None = None
    expected: str = ""


@dataclass(frozen=True)
class StatusRules:
    """The compiled `statusDefinition`. ``mappings`` are in Karta's matching order, without empty ones."""

    phase: Query | None
    conditions: ConditionsRule | None
    mappings: tuple[tuple[Status, tuple[Matcher, ...]], ...]
    completes: bool
    """Whether the workload runs to completion: the mappings have Completed."""
    rest: Query | None = None
    """Whether the object asks for rest: every place that the suspendActions give has its value, and there is one."""

    @cached_property
    def words(self) -> frozenset[str]:
        """All phases, types of conditions and texts that the mappings name."""
        words = set[str]()
        for matcher in self.matchers:
            words.add(matcher.phase)
            words.update(condition.type for condition in matcher.conditions)
            if matcher.expression is not None:
                words.update(_TEXTS.findall(matcher.expression.text))
        return frozenset(filter(None, words))

    @cached_property
    def meanings(self) -> Mapping[tuple[str, JSON], frozenset[Status]]:
        """The statuses to which a type of conditions with a status is mapped, or under None with any status."""
        meanings = dict[tuple[str, JSON], frozenset[Status]]()
        for status, matchers in self.mappings:
            for condition in chain.from_iterable(matcher.conditions for matcher in matchers):
                # A matcher without a status takes any, and is read as the usual "True".
                for value in (None, condition.status or "True"):
                    key = condition.type, value
                    meanings[key] = meanings.get(key, frozenset()) | {status}
        return meanings

    @cached_property
    def completes_by_expression(self) -> bool:
        """Whether an expression alone may say that the workload has completed."""
        completed = dict(self.mappings).get(Status.COMPLETED, ())
        return any(not matcher.conditions and not matcher.phase for matcher in completed)

    @cached_property
    def compares_generation(self) -> bool:
        """Whether the mappings read the generation of the object, and so judge a stale status themselves."""
        return self._reads(".metadata.generation")

    @cached_property
    def reads_observed_generation(self) -> bool:
        """Whether the mappings read the generation that a status is of."""
        return self._reads(".status.observedGeneration")

    def _reads(self, path: str) -> bool:
        expressions = [matcher.expression for matcher in self.matchers if matcher.expression is not None]
        return any(path in expression.text for expression in expressions)

    @property
    def matchers(self) -> Iterator[Matcher]:
        """All ways to have a status."""
        for _, matchers in self.mappings:
            yield from matchers

    @property
    def hold_while_there(self) -> bool:
        """Whether the conditions in ``.status.conditions`` have no status."""
        rule = self.conditions
        return rule is not None and (rule.query.text, rule.type_field, rule.status_field) == (
            ".status.conditions",
            "type",
            "",
        )
