"""An aggregated status is one picture: it means what the status of the worst cluster means."""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import permutations, product
from typing import Literal, TypeAlias

import pytest

from docs.tools.facts import facts_of
from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.values import JSON, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.status_rules import FAILING, Status
from karta_interpreter.engine.evaluation.status import match_status
from karta_interpreter.engine.operations import Call, Operation, StatusItem, interpret
from karta_interpreter.engine.operations.aggregate.member_status import ranks
from karta_interpreter.engine.suites.suite import Case
from tests.catalogue.entries import answers, applies
from tests.catalogue.tables import accepted

Effect: TypeAlias = Literal["other", "better", "healthier"]
_GENERATION = 5
_OF_GENERATIONS = ("observedGeneration", "generation", "resourceTemplateGeneration")


_PAIRS, _TRIPLES, _TEMPLATES = 150, 40, 3
_PLACE = "`differences.aggregate` of the facts of a kind has its reasons"


def _reasons(definition: Definition, effect: Effect) -> set[Status]:
    """Return the statuses of the worst cluster from which the aggregate may differ."""
    own: Mapping[str, str] = getattr(facts_of(definition.gvk).differences.aggregate, effect)
    kind = f"{definition.gvk.kind}.{definition.gvk.group}"
    names = {kind, f"{kind}/{definition.gvk.version}"}
    shared = (row["worst"] for row in accepted("one-picture")[effect] if names & {*row["kinds"]})
    return {*map(Status, own), *map(Status, shared)}


@pytest.mark.sweep
@applies(answers(Operation.AGGREGATE_STATUS, scripted=False))
def test_aggregate_has_the_status_of_the_worst_cluster(definition: Definition, cases: Sequence[Case]) -> None:
    deviating: dict[Status, str] = {}
    for template, statuses in _alike(cases):
        for pair in permutations(statuses, 2):
            worst, aggregate = _statuses(definition, template, pair)
            # Work goes on while it does in one cluster.
            goes_on = aggregate is Status.RUNNING and _completes(definition) and worst not in FAILING
            if worst is not aggregate and not goes_on:
                deviating[worst] = f"{aggregate}: {json.dumps(pair)}"
    reasons = _reasons(definition, "other")
    assert not {status: example for status, example in deviating.items() if status not in reasons}, _PLACE
    assert deviating.keys() == reasons, "each reason is needed"


@pytest.mark.slow
@pytest.mark.sweep
@applies(answers(Operation.AGGREGATE_STATUS, scripted=False))
def test_aggregate_is_never_better_than_the_worst_cluster(definition: Definition, cases: Sequence[Case]) -> None:
    """Also if its clusters report different fields: one has begun, one is new, one has an older controller."""
    better: dict[Status, str] = {}
    rank = ranks(definition)
    for template, statuses in _means_the_same(definition, cases):
        for reports in _together(statuses, random.Random(definition.name)):  # noqa: S311 - the same every time
            worst, aggregate = _statuses(definition, template, reports)
            goes_on = _completes(definition) and worst not in FAILING and aggregate is not Status.COMPLETED
            begins = worst is Status.UNDEFINED and aggregate is not Status.RUNNING
            if rank(aggregate) > rank(worst) and not goes_on and not begins:
                better[worst] = f"{aggregate}: {json.dumps(reports)}"
    reasons = _reasons(definition, "better")
    assert not {status: example for status, example in better.items() if status not in reasons}, _PLACE
    assert better.keys() == reasons, "each reason is needed"


@pytest.mark.slow
@pytest.mark.sweep
@applies(answers(Operation.AGGREGATE_STATUS, Operation.INTERPRET_HEALTH, scripted=False))
def test_aggregate_is_healthy_only_if_each_cluster_is(definition: Definition, cases: Sequence[Case]) -> None:
    """GitOps tools and `kubectl wait` read the template, and so do exported health checks.

    Work that ends goes on in other clusters while one is new.
    """
    healthier: dict[Status, str] = {}
    for template, statuses in _means_the_same(definition, cases):
        for reports in _together(statuses, random.Random(definition.name)):  # noqa: S311 - the same every time
            worst, aggregate = _statuses(definition, template, reports)
            are_healthy = [_is_healthy(definition, {**_now(template), "status": _current(each)}) for each in reports]
            goes_on = _completes(definition) and worst is Status.UNDEFINED and aggregate is not Status.COMPLETED
            if not all(are_healthy) and not goes_on and _is_healthy(definition, _whole(definition, template, reports)):
                healthier[worst] = f"{aggregate}: {json.dumps(reports)}"
    better = _reasons(definition, "better")
    other = {status: example for status, example in healthier.items() if status not in better}
    reasons = _reasons(definition, "healthier")
    assert not {status: example for status, example in other.items() if status not in reasons}, _PLACE
    assert other.keys() == reasons, "each reason is needed"


def _is_healthy(definition: Definition, obj: Object) -> bool:
    with suppress(InterpretationError):
        return bool(interpret(definition, Call(Operation.INTERPRET_HEALTH, obj))["healthy"])
    return False


def _means_the_same(definition: Definition, cases: Sequence[Case]) -> Iterator[tuple[Object, list[Object]]]:
    """Yield templates, and the statuses of the suites that mean for them what they mean for their own templates."""
    reported: dict[str, tuple[Object, Object]] = {}
    for case in cases:
        template: Object = {key: value for key, value in case.call.object.items() if key != "status"}
        for status in filter(None, [case.call.object.get("status"), *(item.status for item in case.call.items)]):
            reported.setdefault(json.dumps(status, sort_keys=True), (template, _current(status)))
    found: dict[str, tuple[Object, list[Object]]] = {}
    for template, _ in reported.values():
        meanings = [
            (status, _meaning(definition, template, status))
            for own, status in reported.values()
            if _meaning(definition, template, status) is _meaning(definition, own, status) is not None
        ]
        found.setdefault(json.dumps(meanings), (template, [status for status, _ in meanings]))
    by_size = sorted(found.values(), key=lambda each: -len(each[1]))
    yield from by_size[:_TEMPLATES]


def _meaning(definition: Definition, template: Object, status: Object) -> Status | None:
    try:
        return _worst(definition, {**template, "status": status})
    except InterpretationError:
        return None


def _together(statuses: Sequence[Object], chance: random.Random) -> list[tuple[Object, ...]]:
    """Return pairs and triples of statuses."""
    pairs = list(product(statuses, repeat=2))
    triples = [tuple(chance.choices(statuses, k=3)) for _ in range(_TRIPLES)]
    return [*chance.sample(pairs, min(_PAIRS, len(pairs))), *triples]


def _completes(definition: Definition) -> bool:
    return definition.status is not None and Status.COMPLETED in dict(definition.status.mappings)


def _alike(cases: Sequence[Case]) -> Iterator[tuple[Object, list[Object]]]:
    """Yield templates and statuses of one form in the suites: a controller writes the same fields each time."""
    forms: dict[str, tuple[Object, dict[str, Object]]] = {}
    for case in cases:
        template = {key: value for key, value in case.call.object.items() if key != "status"}
        for status in filter(None, [case.call.object.get("status"), *(item.status for item in case.call.items)]):
            _, statuses = forms.setdefault(_form(template, status), (template, {}))
            statuses[json.dumps(status, sort_keys=True)] = status
    yield from ((template, list(statuses.values())) for template, statuses in forms.values())


def _form(template: Object, status: Object) -> str:
    conditions = status.get("conditions")
    listed = conditions if isinstance(conditions, list) else []
    types = sorted(str(each.get("type")) for each in listed if isinstance(each, dict))
    fields = sorted(status.keys() - {*_OF_GENERATIONS})
    return json.dumps([template.get("spec"), fields, types], sort_keys=True)


def _statuses(definition: Definition, template: Object, reports: Sequence[JSON]) -> tuple[Status, Status]:
    """Return the worst status of some clusters, and the status of what they make together."""
    members = [{**_now(template), "status": _current(status)} for status in reports]
    try:
        worst = min((_worst(definition, member) for member in members), key=ranks(definition))
        return worst, _worst(definition, _whole(definition, template, reports))
    except InterpretationError:
        return Status.UNDEFINED, Status.UNDEFINED


def _whole(definition: Definition, template: Object, reports: Sequence[JSON]) -> Object:
    """Return the template with the status that some clusters make together."""
    items = [StatusItem(f"member{number}", _current(status)) for number, status in enumerate(reports)]
    results = interpret(definition, Call(Operation.AGGREGATE_STATUS, _now(template), items=tuple(items)))
    whole: Object = results["aggregatedStatus"]
    return whole


def _now(template: Object) -> Object:
    return {**template, "metadata": {**template.get("metadata", {}), "generation": _GENERATION}}


def _current(status: JSON) -> JSON:
    """Return a status whose controller has seen the template as it is."""
    seen = status | dict.fromkeys(_OF_GENERATIONS, _GENERATION) if "observedGeneration" in status else status
    conditions = seen.get("conditions")
    return seen | {"conditions": list(map(_current_one, conditions))} if isinstance(conditions, list) else seen


def _current_one(condition: JSON) -> JSON:
    is_of_generation = isinstance(condition, dict) and "observedGeneration" in condition
    return condition | {"observedGeneration": _GENERATION} if is_of_generation else condition


def _worst(definition: Definition, obj: Object) -> Status:
    return min(match_status(definition, obj).matched, key=ranks(definition))
