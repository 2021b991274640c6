"""Which operations are registered for a kind: the rules one by one, and the one that must never be broken."""

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interpreter.k8s.gvk import GVK
from interpreter.registration import Served, operations_for
from interpreter.registration.fallback import INTERPRETS_COMPONENT, REVISES_REPLICA
from tests.registration.definitions import TOY, Scale, define, names, replicas

ONE = {"worker": replicas(".spec.worker.count // 1")}
TWO = {"head": replicas("1"), **ONE}

EVERYTHING = {"Rp", "Rv", "Re", "Ag", "St", "He", "De"}


@pytest.mark.parametrize(
    ("parts", "off", "on"),
    [
        pytest.param(ONE, {"Rp", "Rv"}, {"Rp", "Rv"}, id="one component is a number of replicas, gate or no gate"),
        pytest.param(TWO, {"Rp", "Rv"}, {"Co"}, id="several components are components with the gate on"),
        pytest.param({"head": replicas("1")}, {"Rp"}, {"Rp"}, id="a literal count cannot be written"),
        pytest.param({"head": {}}, {"Rp"}, {"Rp"}, id="no count at all cannot be written"),
        pytest.param(
            {"worker": {"minReplicasPath": ".spec.worker.min", "maxReplicasPath": ".spec.worker.max"}},
            {"Rp", "Rv"},
            {"Rp", "Rv"},
            id="the minimum is a place to write to",
        ),
        pytest.param({}, set(), set(), id="without pods there is nothing to count"),
    ],
)
def test_counting(parts: Mapping[str, Scale], off: set[str], on: set[str]) -> None:
    definition = define(parts=parts)
    counting = {"Rp", "Co", "Rv"}

    assert names(operations_for(definition)) & counting == off
    assert names(operations_for(definition, multiple_pod_templates=True)) & counting == on


def test_instances_are_several_components() -> None:
    definition = define(parts={"group": replicas(".spec.group[].count")}, instances=True)

    assert names(operations_for(definition, multiple_pod_templates=True)) & {"Rp", "Co", "Rv"} == {"Co"}


@pytest.mark.parametrize(
    ("elastic", "revised"),
    [
        pytest.param("worker", True, id="the elastic component can be written"),
        pytest.param("head", False, id="the elastic component is a literal"),
    ],
)
def test_only_elastic_components_are_revised(elastic: str, revised: bool) -> None:
    definition = define(parts=TWO, annotations={"elastic": elastic})

    assert ("Rv" in names(operations_for(definition))) is revised


@pytest.mark.parametrize(
    ("served", "missing"),
    [
        pytest.param(None, set(), id="nothing is known: everything"),
        pytest.param(Served(), set(), id="the schema does not say whether it observes the generation"),
        pytest.param(Served(observes_generation=True), set(), id="it observes the generation"),
        pytest.param(Served(observes_generation=False), {"St"}, id="Karmada reflects a whole status by itself"),
        pytest.param(Served(status_subresource=False), {"Ag"}, id="UpdateStatus would fail"),
        pytest.param(Served(namespaced=False), {"De"}, id="dependencies of cluster-scoped objects are not followed"),
        pytest.param(Served(served=False), EVERYTHING, id="the version is not served"),
    ],
)
def test_what_is_known_of_the_kind_decides(served: Served | None, missing: set[str]) -> None:
    assert names(operations_for(define(parts=ONE), served)) == EVERYTHING - missing


def test_a_status_of_which_karmada_picks_fields_is_ours() -> None:
    definition = define(GVK("kubeflow.org", "v2beta1", "MPIJob"), ONE)

    assert "St" in names(operations_for(definition, Served(observes_generation=False)))


@pytest.mark.parametrize(
    ("suspend", "annotations", "present", "absent"),
    [
        pytest.param(False, {}, {"He"}, {"Re", "De"}, id="nothing to retain or to bring along"),
        pytest.param(True, {}, {"Re"}, {"De"}, id="a suspend switch is retained"),
        pytest.param(False, {"retain": ".spec.node"}, {"Re"}, {"De"}, id="the annotation retains"),
        pytest.param(
            False,
            {"dependencies": "[{apiVersion: v1, kind: Secret, name: .spec.secret}]"},
            {"De"},
            {"Re"},
            id="the annotation names dependencies",
        ),
    ],
)
def test_a_definition_without_pods(
    suspend: bool, annotations: Mapping[str, str], present: set[str], absent: set[str]
) -> None:
    operations = names(operations_for(define(suspend=suspend, annotations=annotations)))

    assert present <= operations
    assert absent.isdisjoint(operations)


def test_the_annotation_operations_restricts() -> None:
    definition = define(parts=ONE, annotations={"operations": "InterpretHealth, InterpretComponent, Retain"})

    assert operations_for(definition) == ("Retain", "InterpretHealth")


@pytest.mark.parametrize(
    ("gvk", "parts", "expected"),
    [
        pytest.param(
            GVK("ray.io", "v1", "RayService"), TWO, {"Rp", "Rv"}, id="Karmada revises it: no InterpretComponent"
        ),
        pytest.param(GVK("ray.io", "v1", "RayJob"), ONE, {"Co"}, id="Karmada knows its components: no ReviseReplica"),
    ],
)
def test_what_karmada_answers_itself_counts(gvk: GVK, parts: Mapping[str, Scale], expected: set[str]) -> None:
    operations = names(operations_for(define(gvk, parts), multiple_pod_templates=True))

    assert operations & {"Rp", "Co", "Rv"} == expected


_PARTS = st.dictionaries(
    st.sampled_from(["head", "worker", "driver"]),
    st.sampled_from([replicas("1"), replicas(".spec.count // 1"), {"minReplicasPath": ".spec.min"}, {}]),
    max_size=3,
)
_KINDS = st.sampled_from([TOY, *sorted(INTERPRETS_COMPONENT | REVISES_REPLICA)])
_SERVED = st.one_of(st.none(), st.builds(Served))
_ALLOWED = st.sets(st.sampled_from(["InterpretReplica", "InterpretComponent", "ReviseReplica", "Retain"]))


@settings(max_examples=150, deadline=None)
@given(_KINDS, _PARTS, st.booleans(), _SERVED, _ALLOWED, st.booleans())
def test_no_kind_is_ever_scaled_to_zero(
    gvk: GVK, parts: Mapping[str, Scale], instances: bool, served: Served | None, allowed: set[str], gate: bool
) -> None:
    annotations = {"operations": ", ".join(sorted(allowed))} if allowed else {}
    definition = define(gvk, parts, instances=instances, annotations=annotations)

    ours = set(operations_for(definition, served, multiple_pod_templates=gate))

    assert not {"InterpretComponent", "ReviseReplica"} <= ours
    if gate:
        asked_for_components = "InterpretComponent" in ours or gvk in INTERPRETS_COMPONENT
        revised = "ReviseReplica" in ours or gvk in REVISES_REPLICA
        assert not (asked_for_components and revised)
