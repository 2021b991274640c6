"""Our answers compared with theirs: counted, and explained where they differ."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Set as AbstractSet
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from karta_interpreter.base.k8s.values import JSON
from tests.proofs.conformance.gojq.asking import FAILED, Answer, answer, same
from tests.proofs.conformance.gojq.readings import SEVERAL, Reading

Readings: TypeAlias = AbstractSet[Reading]

_SHOWN = 20
_LONGEST = 600
_ATTEMPTS: tuple[tuple[str, frozenset[Reading]], ...] = (
    *((reading.value, frozenset((reading,))) for reading in Reading),
    (SEVERAL, frozenset(Reading)),
)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked about what; ``theirs`` answers as gojq does, but for some readings of ours."""

    about: str
    subject: JSON
    ours: Callable[[], Answer]
    theirs: Callable[[Readings], Answer]
    only_here: str = ""
    """Why there may be an answer here and an error there."""
    only_there: str = ""


@dataclass
class Tally:
    """What came of comparing one kind of answer."""

    asked: int = 0
    errors: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    failures: dict[str, list[str]] = field(default_factory=dict)

    def ask(self, question: Question, excuse: str = "") -> None:
        """Ask both sides; where they differ, look for the reading of ours that explains it."""
        ours, theirs = answer(question.ours), answer(partial(question.theirs, frozenset()))
        self.errors += ours == FAILED
        reason = "" if same(ours, theirs) else excuse or _explanation(question, ours, theirs)
        self.count(question.about, question.subject, ours, theirs, reason)

    def count(self, about: str, subject: JSON, ours: Answer, theirs: Answer, reason: str) -> None:
        """Count one pair of answers; a reason is only needed where they differ."""
        self.asked += 1
        if same(ours, theirs):
            return
        if reason:
            self.reasons[reason] += 1
            return
        shown = f"  of: {_short(subject)}\n  here: {_short(ours)}\n  there: {_short(theirs)}"
        self.failures.setdefault(about, []).append(shown)

    @property
    def failed(self) -> int:
        """How many answers differ without a reason."""
        return sum(map(len, self.failures.values()))

    def __str__(self) -> str:
        lines = [f"{self.asked} compared, {self.errors} answered with an error here, {self.failed} differ"]
        lines += [f"  {count} differ for a reason: {reason}" for reason, count in self.reasons.most_common()]
        return "\n".join(lines)

    def show(self) -> Iterator[str]:
        """Each way in which answers differ without a reason, with the smallest subject for which they do."""
        for about, shown in list(self.failures.items())[:_SHOWN]:
            yield f"{about}, {len(shown)} times\n{min(shown, key=len)}"
        if len(self.failures) > _SHOWN:
            yield f"and {len(self.failures) - _SHOWN} more"


def _explanation(question: Question, ours: Answer, theirs: Answer) -> str:
    for reason, readings in _ATTEMPTS:
        if same(ours, answer(partial(question.theirs, readings))):
            return reason
    if FAILED in (ours, theirs):
        return question.only_there if ours == FAILED else question.only_here
    return ""


def _short(value: JSON) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
