"""The schemas that the package carries: of which kinds, and that they allow what the suites and real manifests have."""

from typing import Final

from karta_interpreter.base.k8s import GVK
from karta_interpreter.definitions.openapi.catalogue import catalogue_schemas
from karta_interpreter.definitions.openapi.objects import misfits
from tests.catalogue.entries import entries

WITHOUT: Final = {
    GVK("helm.toolkit.fluxcd.io", "v2", "HelmRelease"): "the release that its definition names could not be had"
}
ALLOWED: Final = {
    ("StatefulSet", "replicas is text"): "no API server stores it, and Karmada asks all the same",
    ("Job", "parallelism is text"): "as above",
    ("PaddleJob", "replicas that are no number"): "as above",
    ("Notebook", "a template that is no object"): "as above",
    ("LLMInferenceService", "a configuration of the scheduler as a text"): "as above",
    ("SparkApplication", "memory as a number"): "as above",
    ("CronWorkflow", "one schedule"): "objects of releases before 4.0",
    ("SparkApplication", "suspended before its first attempt"): "objects of releases after 1.0",
    ("SparkApplication", "suspended between two attempts"): "as above",
    ("SparkCluster", "suspended before anything was made"): "as above",
    ("Experiment", "trials of a kind whose pods are not known"): "the trial of one kind has the fields of another one",
    ("AppWrapper", "kinds that the controller does not know"): "as above",
}


def test_each_kind_has_a_schema_or_a_reason() -> None:
    kinds = {entry.definition.gvk for entry in entries() if entry.definition}

    assert catalogue_schemas().keys() == kinds - WITHOUT.keys()


def test_schemas_are_of_the_release_that_the_definition_names_first() -> None:
    named = {
        definition.gvk: definition.annotations.written_from.split(", ")
        for definition in (entry.definition for entry in entries())
        if definition and definition.gvk not in WITHOUT
    }
    # Another version of a kind may be from an earlier release.
    own = {entry.loaded.gvk for entry in entries() if entry.loaded.others}

    for gvk, kind in catalogue_schemas().items():
        assert kind.crd == named[gvk][0] or (gvk not in own and kind.crd in named[gvk]), gvk


def test_schemas_allow_the_objects_of_the_suites() -> None:
    found = {
        (definition.gvk.kind, case.name): [f"{finding.message_at_path} {finding.hint}" for finding in findings]
        for entry in entries()
        if (definition := entry.definition) and (kind := catalogue_schemas().get(definition.gvk))
        for case in entry.cases
        for obj in (case.call.object,)
        if (findings := [*misfits(kind.schema, {name: part for name, part in obj.items() if name != "status"}, "", {})])
    }

    assert found.keys() == ALLOWED.keys(), found
