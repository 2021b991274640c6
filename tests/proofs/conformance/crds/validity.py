"""Every aggregated status is one that an API server with the kind's CRD stores.

Statuses come from the suites of the catalogue, from Karmada's own cases, and as changed copies of both. A status or a
template that the CRD itself does not allow is left out, for its cluster could not have it either. The others are put
together: one cluster, two, three, one of them silent; and each result is the status of a template without clusters.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple, TypeAlias
from zlib import crc32

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.values import JSON, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.operations import Call, Operation, StatusItem, interpret
from karta_interpreter.engine.operations.interpret_status import BOOKKEEPING
from tests.catalogue.entries import Entry, entries
from tests.catalogue.knowledge import knowing
from tests.proofs.conformance.bundle import Bundled
from tests.proofs.conformance.crds.sources import BUILT_IN, reasons_without_crd
from tests.proofs.conformance.crds.validator import validated
from tests.proofs.conformance.mutation import mutate

_OPERATION = Operation.AGGREGATE_STATUS
_COPIES = 8
_STATUSES = 30
"""How many statuses of a kind are put together with others."""
_TOGETHER = (1, 7)
"""How far apart two of them are."""
_LONGEST = 700

Asked: TypeAlias = tuple[str, str]
"""A kind and a status, as JSON."""


class Situation(NamedTuple):
    """A template, what its clusters report, and where this is from."""

    definition: Definition
    template: Object
    items: tuple[StatusItem, ...]
    source: str

    @property
    def statuses(self) -> Iterator[JSON]:
        """The statuses that have to be valid."""
        yield from (status for status in (self.template.get("status"), *(each.status for each in self.items)) if status)


@dataclass
class Tally:
    """What was validated; ``refused`` has the situations by kind and by what an API server has against their status."""

    kinds: set[str] = field(default_factory=set)
    unknown: dict[str, str] = field(default_factory=dict)
    left_out: int = 0
    errors: int = 0
    validated: Counter[str] = field(default_factory=Counter)
    refused: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def __str__(self) -> str:
        asked = ", ".join(f"{count} {source}" for source, count in self.validated.most_common())
        lines = [
            f"{self.validated.total()} aggregated statuses of {len(self.kinds)} kinds: {asked}",
            f"{self.left_out} left out, because what they begin with is not valid; {self.errors} errors",
            f"{sum(map(len, self.refused.values()))} refused",
        ]
        return "\n".join([*lines, *(f"  no CRD of {kind}: {reason}" for kind, reason in sorted(self.unknown.items()))])

    def failures(self) -> Iterator[str]:
        """Yield what is refused, each with an example, and kinds without a CRD and without a reason."""
        for (kind, reason), examples in self.refused.items():
            yield f"{kind}: {reason}, {len(examples)} times\n{min(examples, key=len)[:_LONGEST]}"
        for kind in sorted(kind for kind, reason in self.unknown.items() if not reason):
            yield f"there is no CRD of {kind}: name its module or a reason in `upstreams` of its facts"
        if not self.kinds:
            yield "nothing was validated"


class Validator:
    """Asks an API server's validation, each status once."""

    def __init__(self, program: Path, crds: Sequence[Path]) -> None:
        self._program, self._crds = program, crds
        self._answers: dict[Asked, Mapping[str, list[str] | None] | None] = {}

    def ask(self, asked: Iterable[Asked]) -> None:
        """Validate statuses."""
        new = [each for each in dict.fromkeys(asked) if each not in self._answers]
        kinds = [dict(zip(("apiVersion", "kind"), kind.split(" "), strict=True)) for kind, _ in new]
        objects = (kind | {"status": json.loads(status)} for kind, (_, status) in zip(kinds, new, strict=True))
        self._answers.update(zip(new, validated(self._program, self._crds, objects), strict=True))

    def knows(self, kind: str) -> bool:
        """Return whether there is a CRD of a kind, of which an empty status was asked."""
        return self._answers[_asked(kind, {})] is not None

    def against(self, kind: str, status: JSON, *, with_unknown: bool = False) -> list[str]:
        """Return what there is against a status; with fields that are not in the schema, which are dropped."""
        answer = self._answers[_asked(kind, status)]
        assert answer
        return [*(answer["refused"] or ()), *((answer["unknown"] or ()) if with_unknown else ())]


def compare(program: Path, crds: Sequence[Path], bundle: Iterable[Bundled] = (), copies: int = _COPIES) -> Tally:
    """Validate the aggregated statuses of all kinds."""
    tally, validator = Tally(), Validator(program, crds)
    answering = [entry for entry in entries() if entry.definition and entry.definition.answers(_OPERATION)]
    custom = [entry for entry in answering if not _kind(entry.definition).startswith(BUILT_IN)]
    given = [situation for entry in custom for situation in _given(entry, bundle)]
    reported = [(entry, list(_reported(entry, given, copies))) for entry in custom]
    validator.ask(
        [_asked(_kind(entry.definition), status) for entry, statuses in reported for status in ({}, *statuses)]
        + [_asked(_kind(each.definition), status) for each in given for status in each.statuses]
    )
    definitions = [entry.definition for entry in custom]
    known = set(filter(validator.knows, map(_kind, definitions)))
    reported = [(entry, statuses) for entry, statuses in reported if _kind(entry.definition) in known]
    reasons = reasons_without_crd()
    tally.unknown = {kind: reasons.get(kind, "") for kind in map(_kind, definitions) if kind not in known}
    made = [each for entry, statuses in reported for each in _made(entry, statuses, validator)]
    wanted = [each for each in [*given, *made] if _kind(each.definition) in known]
    situations = [each for each in wanted if _is_valid(each, validator)]
    tally.left_out = len(wanted) - len(situations)
    merged = list(_answered(situations, tally))
    left = [
        Situation(each.definition, {**each.template, "status": status}, (), "without clusters")
        for each, status in merged
        if status
    ]
    answered = [*merged, *_answered(left, tally)]
    validator.ask(_asked(_kind(each.definition), status) for each, status in answered if status is not None)
    for each, status in answered:
        _count(each, status, validator, tally)
    return tally


def _count(situation: Situation, status: JSON, validator: Validator, tally: Tally) -> None:
    kind = _kind(situation.definition)
    tally.validated[situation.source] += 1
    tally.kinds.add(kind)
    for reason in () if status is None else validator.against(kind, status):
        example = {"status": status, "before": situation.template.get("status")}
        example["items"] = [item.to_json() for item in situation.items]
        tally.refused.setdefault((kind, reason), []).append(json.dumps(example))


def _given(entry: Entry, bundle: Iterable[Bundled]) -> Iterator[Situation]:
    """Yield the cases of AggregateStatus in the suites of the catalogue and of Karmada."""
    assert entry.definition
    for case in entry.cases:
        if case.call.operation is _OPERATION:
            yield Situation(entry.definition, case.call.object, tuple(case.call.items), "of the catalogue's cases")
    for bundled in (each for each in bundle if each.gvk == entry.definition.gvk):
        for asked in (each.question for each in bundled.cases if each.question.operation == _OPERATION):
            items = tuple(StatusItem.of(item, "item") for item in asked.items or ())
            yield Situation(entry.definition, asked.object, items, "of Karmada's cases")


def _reported(entry: Entry, given: Iterable[Situation], copies: int) -> Iterator[Object]:
    """Yield the statuses of a kind, and changed copies of them."""
    known = [*entry.reported]
    known += [status for each in given if each.definition is entry.definition for status in each.statuses]
    for position, status in enumerate(known):
        bare = {key: value for key, value in status.items() if key not in BOOKKEEPING}
        yield bare
        for number in range(copies):
            changed = mutate({"status": bare}, crc32(f"{entry.folder} {position} {number}".encode()))
            if isinstance(changed.get("status"), dict):
                yield changed["status"]


def _made(entry: Entry, reported: Iterable[Object], validator: Validator) -> Iterator[Situation]:
    """Yield templates with one cluster, two, three, and some that are silent."""
    assert entry.definition
    kind = _kind(entry.definition)
    # What a cluster can have: an API server stores all of its fields.
    statuses = [status for status in reported if status and not validator.against(kind, status, with_unknown=True)]
    distinct = list({json.dumps(status, sort_keys=True): status for status in statuses}.values())
    # Evenly from all of them: those of one case stand together.
    chosen = distinct[:: max(1, len(distinct) // _STATUSES)]
    templates = cycle([{key: value for key, value in obj.items() if key != "status"} for obj in entry.objects])
    groups: list[list[JSON]] = [[status] for status in chosen]
    for position, status in enumerate(chosen):
        for distance in _TOGETHER:
            other, third = (chosen[(position + step) % len(chosen)] for step in (distance, distance + 2))
            groups += [[status, other], [other, status, third], [status, None], [status, other, None]]
    for group, template in zip(groups, islice(templates, len(groups)), strict=True):
        items = tuple(StatusItem(cluster=f"member{at}", status=status) for at, status in enumerate(group, 1))
        yield Situation(entry.definition, template, items, "of made ones")


def _is_valid(situation: Situation, validator: Validator) -> bool:
    kind = _kind(situation.definition)
    return not any(validator.against(kind, status) for status in situation.statuses)


def _answered(situations: Iterable[Situation], tally: Tally) -> Iterator[tuple[Situation, JSON]]:
    """Yield each situation with the status that the template gets."""
    for each in situations:
        call = Call(_OPERATION, each.template, items=each.items)
        try:
            results = interpret(knowing(each.definition, each.template), call)
        except InterpretationError:
            tally.errors += 1
        else:
            answer: Mapping[str, JSON] = results["aggregatedStatus"]
            yield each, answer.get("status")


def _kind(definition: Definition | None) -> str:
    assert definition
    return f"{definition.gvk.api_version} {definition.gvk.kind}"


def _asked(kind: str, status: JSON) -> Asked:
    return kind, json.dumps(status, sort_keys=True)
