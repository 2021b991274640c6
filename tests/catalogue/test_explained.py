"""An explanation has the answer itself, its facts make up the answer, and it names what decides it: in every suite."""

from collections.abc import Iterable, Iterator, Sequence

import pytest

from docs.tools.facts import facts_of
from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.edit import remove
from karta_interpreter.base.k8s.values import JSON, Object
from karta_interpreter.definitions.karta.annotations import PREFIX, annotation_path
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.karta.reference_resolver import Known, resolved
from karta_interpreter.definitions.karta.versions import in_version
from karta_interpreter.engine.explain import explain, outline, warnings_about
from karta_interpreter.engine.operations import Operation, interpret
from karta_interpreter.engine.suites.suite import Case
from karta_interpreter.languages.lua.reading import without_linting
from tests.catalogue.tables import accepted
from tests.engine.explain.laws import check_laws, names_annotation
from tests.support.examples import SWEEPS_ALL


def _without_effect(definition: Definition) -> Iterator[tuple[str, Operation]]:
    """Yield annotations that an operation reads, and that no object of the kind, or of its version, can show."""
    for row in facts_of(definition.gvk).differences.without_effect:
        if row.version in (None, definition.gvk.version):
            yield row.annotation, Operation(row.operation)
    for shared in accepted("explained"):
        if definition.name in shared["definitions"]:
            yield shared["annotation"], Operation(shared["operation"])


def test_explained_answer_is_the_answer(definition: Definition, swept: Sequence[Case]) -> None:
    for case in swept:
        reader = Known.of(case.references)
        try:
            check_laws(resolved(definition, case.call.object, reader), case.call, reader)
        except AssertionError as error:
            raise AssertionError(f"{case.source}:{case.line}: {case.name}: {error}") from error


@pytest.mark.slow
def test_annotation_is_explained_only_if_it_decides(definition: Definition, swept: Sequence[Case]) -> None:
    explained = [explain(definition, case.call, reader=Known.of(case.references)) for case in swept]
    for name, without in _without_one(definition):
        decides, named = set[Operation](), set[Operation]()
        for case, found in zip(swept, explained, strict=True):
            is_named, operation = names_annotation(found, name), case.call.operation
            if _answer(without, case) != (found.error or found.results):
                assert is_named, f"{case.source}:{case.line}: {case.name}: {name} decides, and is not named"
                decides.add(operation)
            named |= {operation} if is_named else set()
        # The suites ask what the definition answers; that it leaves the rest out needs no case.
        asked = {case.call.operation for case in swept}
        named |= {each for each in asked if names_annotation(outline(definition, each), name)}
        without_effect = asked & {each for annotation, each in _without_effect(definition) if annotation == name}
        # Few cases do not show all that an annotation decides.
        assert not SWEEPS_ALL or named == decides | without_effect, (
            f"{name}: left: it is named for; right: it changes an answer of"
        )
        assert not decides & without_effect


def test_object_of_a_suite_has_no_hint_about_a_typo(
    definition: Definition, swept: Sequence[Case], objects: Sequence[Object]
) -> None:
    facts = [fact for obj in objects for fact in warnings_about(definition, obj)]
    # test_schemas.py is about the fields that a kind does not have.
    assert [fact.note for fact in facts if "did you mean" in fact.note and fact.rule != "field-unknown"] == []
    # The made objects lack fields that are required.
    facts = [fact for case in swept for fact in warnings_about(definition, case.call.object)]
    assert [fact.note for fact in facts if "a typo?" in fact.note] == []


def _without_one(definition: Definition) -> Iterator[tuple[str, Definition]]:
    """Yield each annotation of ours with the definition that lacks it."""
    manifest = in_version(definition.manifest, definition.gvk.version)
    written: Iterable[str] = manifest["metadata"].get("annotations", {})
    names = {each.removeprefix(PREFIX) for each in written if each.startswith(PREFIX)}
    # Every definition has `written-from`, which is about the definition: its answers would take most of the time.
    for name in sorted(names - {"written-from"}):
        with without_linting():
            yield name, load_definition(remove(manifest, annotation_path(name)))


def _answer(definition: Definition, case: Case) -> JSON:
    try:
        return interpret(definition, case.call, reader=Known.of(case.references))
    except InterpretationError as error:
        return str(error)
