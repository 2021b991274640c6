"""The schemas that the package carries: of which kinds, and that they allow what the suites and real manifests have."""

from docs.tools.facts import NAME, read_facts
from karta_interpreter.base.k8s import GVK
from karta_interpreter.definitions.openapi.catalogue import catalogue_schemas
from karta_interpreter.definitions.openapi.objects import misfits
from karta_interpreter.engine.suites.suite import Case
from tests.catalogue.entries import PATHS, entries, entries_of


def test_schemas_are_of_the_release_that_the_definition_names_first() -> None:
    named = {
        definition.gvk: definition.annotations.written_from.split(", ")
        for definition in (entry.definition for entry in entries())
        if definition
    }
    # Another version of a kind may be from an earlier release.
    own = {entry.loaded.gvk for entry in entries() if entry.loaded.others}

    for gvk, kind in catalogue_schemas().items():
        assert kind.crd == named[gvk][0] or (gvk not in own and kind.crd in named[gvk]), gvk


def test_schemas_allow_the_objects_of_the_suites() -> None:
    for path in PATHS:
        found = {case.name: texts for entry in entries_of(path) for case in entry.cases if (texts := _misfits(case))}
        reasons = read_facts(path.with_name(NAME)).differences.unlike_schema
        assert found.keys() == reasons.keys(), found


def _misfits(case: Case) -> list[str]:
    """Return what the schema of its kind does not allow in the object of a case."""
    kind = catalogue_schemas().get(GVK.of(case.call.object))
    spec = {name: part for name, part in case.call.object.items() if name != "status"}
    return [f"{each.message_at_path} {each.hint}" for each in misfits(kind.schema, spec, "", {})] if kind else []
