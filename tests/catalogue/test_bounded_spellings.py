"""A count has the same answers in an expression that libjq runs as in one that this process runs."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import pytest

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.values import Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import load_object
from karta_interpreter.definitions.karta.reference_resolver import Known
from karta_interpreter.engine.operations import interpret
from karta_interpreter.engine.suites.suite import Case
from tests.catalogue.entries import Entry, applies


def counts(entry: Entry) -> bool:
    return entry.definition is not None and any(component.count for component in entry.definition.components)


@pytest.mark.slow
@pytest.mark.sweep
@applies(counts)
def test_counts_through_variable_have_answers_of_plain_ones(definition: Definition, swept: Sequence[Case]) -> None:
    bounded = _version_of(_spelled(definition.manifest), definition)
    assert bounded.uses_bounded
    for case in swept[::3]:
        assert _answer(bounded, case) == _answer(definition, case), f"{case.source}:{case.line}"


def _version_of(manifest: Object, definition: Definition) -> Definition:
    """Return the definition that a Karta has for the version of another definition."""
    (version,) = (loaded for loaded in load_object(manifest, "").versions if loaded.gvk == definition.gvk)
    return version.usable()


def _spelled(manifest: Object) -> Object:
    """Return a Karta with each path of a count as the value of a variable."""
    copy: dict[str, Any] = deepcopy(dict(manifest))
    structure = copy["spec"]["structureDefinition"]
    for component in (structure["rootComponent"], *structure.get("childComponents", [])):
        scale = component.get("scaleDefinition", {})
        scale |= {field: f". as $all | $all | ({text})" for field, text in scale.items() if field.endswith("Path")}
    return copy


def _answer(definition: Definition, case: Case) -> object:
    try:
        return interpret(definition, case.call, reader=Known.of(case.references))
    except InterpretationError as error:
        return type(error)
