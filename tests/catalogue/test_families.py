"""That no suite leaves out a family of cases; what each case expects is checked in ``test_suites.py``."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import structs

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s.fields import generation
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.operations import Operation, interpret
from karta_interpreter.engine.operations.interpret_status import observed_generation
from karta_interpreter.engine.suites.suite import Case
from tests.catalogue.entries import of_all_kinds
from tests.catalogue.knowledge import knowing

# ReviseComponents has no cases: `test_component_contract.py` asks every kind for every split.
FEWEST: Mapping[Operation, int] = {
    Operation.INTERPRET_REPLICA: 3,
    Operation.INTERPRET_COMPONENT: 2,
    Operation.REVISE_REPLICA: 3,
    Operation.RETAIN: 2,
    Operation.INTERPRET_STATUS: 2,
    Operation.INTERPRET_HEALTH: 4,
    Operation.AGGREGATE_STATUS: 4,
    Operation.INTERPRET_DEPENDENCY: 2,
}


@of_all_kinds
def test_families_have_their_cases(definition: Definition, cases: Sequence[Case]) -> None:
    missing = []
    for operation in filter(definition.answers, FEWEST):
        asked = [case for case in cases if case.call.operation is operation]
        found = {family for case in asked for family in _families(definition, case)}
        wanted = WANTED.get(operation, ())
        missing += [f"{operation}: {family}" for family in wanted if family not in found]
        if len(asked) < FEWEST[operation]:
            missing.append(f"{operation}: {FEWEST[operation]} cases, there are {len(asked)}")
    assert missing == []


@of_all_kinds
def test_kind_with_generations_has_a_stale_case(cases: Sequence[Case]) -> None:
    live = [case for case in cases if case.call.operation is Operation.INTERPRET_HEALTH]
    tells = [case for case in live if observed_generation(case.call.object.get("status")) is not None]
    stale = [case for case in tells if _is_behind(case)]
    assert bool(stale) == bool(tells)


def _is_behind(case: Case) -> bool:
    observed, current = observed_generation(case.call.object.get("status")), generation(case.call.object)
    return observed is not None and current is not None and observed < current


def _families(definition: Definition, case: Case) -> Iterator[str]:
    families = _FAMILIES.get(case.call.operation)
    if families is not None:
        yield from families(definition, case)


def _revision(definition: Definition, case: Case) -> Iterator[str]:
    today, wanted = _today(definition, case), case.call.wanted
    if case.error:
        yield "a number that cannot be"
    if wanted == 0:
        yield "to none"
    if today is not None and wanted != today:
        yield "up" if wanted > today else "down"


def _today(definition: Definition, case: Case) -> int | None:
    call = structs.replace(case.call, operation=Operation.INTERPRET_REPLICA)
    try:
        return interpret(knowing(definition, call.object), call)["replica"]
    except InterpretationError:
        return None


def _aggregation(_definition: Definition, case: Case) -> Iterator[str]:
    items = case.call.items
    yield count(min(len(items), 4), "cluster")
    if len(items) >= 4 and any(item.status != items[0].status for item in items):
        yield "clusters in different states"


def _health(_definition: Definition, case: Case) -> Iterator[str]:
    yield "healthy" if case.expected.get("healthy") else "not healthy"


def _reflection(_definition: Definition, case: Case) -> Iterator[str]:
    yield "a status" if case.call.object.get("status") else "no status"


def _dependency(_definition: Definition, case: Case) -> Iterator[str]:
    yield "some" if case.expected.get("dependencies") else "none"


_FAMILIES: Mapping[Operation, Callable[[Definition, Case], Iterator[str]]] = {
    Operation.REVISE_REPLICA: _revision,
    Operation.AGGREGATE_STATUS: _aggregation,
    Operation.INTERPRET_HEALTH: _health,
    Operation.INTERPRET_STATUS: _reflection,
    Operation.INTERPRET_DEPENDENCY: _dependency,
}

WANTED: Mapping[Operation, Sequence[str]] = {
    Operation.REVISE_REPLICA: ("up", "down", "to none", "a number that cannot be"),
    Operation.AGGREGATE_STATUS: (
        "0 clusters",
        "1 cluster",
        "2 clusters",
        "4 clusters",
        "clusters in different states",
    ),
    Operation.INTERPRET_HEALTH: ("healthy", "not healthy"),
    Operation.INTERPRET_STATUS: ("a status", "no status"),
    Operation.INTERPRET_DEPENDENCY: ("some", "none"),
}
