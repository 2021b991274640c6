"""Names of components last: between releases, and with every count."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from docs.tools.facts import facts_of
from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import edit
from karta_interpreter.base.k8s.values import Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.reference_resolver import Known, resolved
from karta_interpreter.engine.evaluation.pods import scale_locations
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.engine.suites.suite import Case
from tests.catalogue.component_names import components_of_cases, names_of
from tests.catalogue.entries import Entry, answers, applies


@applies(answers(Operation.INTERPRET_COMPONENT))
def test_names_are_those_of_the_facts(definition: Definition, cases: Sequence[Case]) -> None:
    known = facts_of(definition.gvk).components.get(definition.gvk.version)
    assert known is None or names_of(definition, cases) == known


def _set_count(obj: Object, known: Definition, count: int) -> list[Object]:
    """Return the object with another count, once for each place of one."""
    changed = list[Object]()
    for scale in scale_locations(known, obj):
        place = scale.replicas
        if place is not None and place.factor:
            raw: Any = str(count) if isinstance(place.raw(obj), str) else count
            changed.append(edit.set_value(obj, place.path, raw))
    return changed


@applies(answers(Operation.INTERPRET_COMPONENT, scripted=False))
def test_names_are_the_same_for_every_count(definition: Definition, cases: Sequence[Case]) -> None:
    for case, components in components_of_cases(definition, cases):
        names = [component["name"] for component in components]
        known = resolved(definition, case.call.object, Known.of(case.references))
        for count in (0, 1, 7):
            for changed in _set_count(case.call.object, known, count):
                with suppress(InterpretationError):  # a count that the kind refuses
                    after = interpret(known, Call(Operation.INTERPRET_COMPONENT, changed))["components"] or ()
                    assert [component["name"] for component in after] == names, case.name


def _has_one_component(entry: Entry) -> bool:
    both = answers(Operation.INTERPRET_COMPONENT, scripted=False)(entry)
    return both and answers(Operation.INTERPRET_REPLICA, scripted=False)(entry)


@applies(_has_one_component)
def test_one_component_is_answered_as_its_replicas(definition: Definition, cases: Sequence[Case]) -> None:
    """Karmada asks one operation or the other by its feature gate (karmada-io/karmada#7277)."""
    for case, components in components_of_cases(definition, cases):
        if len(components) == 1:
            call = Call(Operation.INTERPRET_REPLICA, case.call.object)
            answer = interpret(definition.in_pods, call, reader=Known.of(case.references))
            (only,) = components
            assert answer["replica"] == only["replicas"], case.name
            assert answer.get("requires") == only.get("replicaRequirements"), case.name
