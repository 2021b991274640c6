"""Which operations are registered for a kind: the rules one by one, and the one that must never be broken."""

from collections.abc import Mapping

import pytest
from hypothesis import given, strategies as st

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.registered.operations import (
    INTERPRETS_COMPONENT,
    REVISES_REPLICA,
    ServedKind,
    operations_for,
)
from karta_interpreter.languages.lua.script import Script, Scripts
from tests.support.rows import rows
from tests.webhook.registration.definitions import TOY, Scale, define, names, replicas

ONE = {"worker": replicas(".spec.worker.count // 1")}
TWO = {"head": replicas("1"), **ONE}

EVERYTHING = {"Rp", "Rv", "Re", "Ag", "St", "He", "De"}


@rows(
    ("parts", "off", "on"),
    [
        pytest.param(ONE, {"Rp", "Rv"}, {"Rp", "Rv"}, id="one component is a number of replicas, gate or no gate"),
        pytest.param(TWO, {"Rp", "Rv"}, {"Co"}, id="several components are components with the gate on"),
        pytest.param({"head": replicas("1")}, {"Rp"}, {"Rp"}, id="a literal count cannot be written"),
        pytest.param({"head": {}}, {"Rp"}, {"Rp"}, id="no count at all cannot be written"),
        pytest.param({"worker": {"minReplicasPath": ".spec.worker.min", "maxReplicasPath": ".spec.worker.max"}},
            {"Rp", "Rv"}, {"Rp", "Rv"}, id="the minimum is a place to write to"),
        pytest.param({}, set(), set(), id="without pods there is nothing to count"),
    ],
)  # fmt: skip
def test_counting(parts: Mapping[str, Scale], off: set[str], on: set[str]) -> None:
    definition = define(parts=parts)
    counting = {"Rp", "Co", "Rv"}

    assert names(operations_for(definition)) & counting == off
    assert names(operations_for(definition, multiple_pod_templates=True)) & counting == on


@rows(
    ("parts", "annotations", "gate", "known", "revised"),
    [
        pytest.param(TWO, {}, True, True, True, id="several components, and a Karmada that knows it"),
        pytest.param(TWO, {}, True, False, False, id="no release of Karmada knows it"),
        pytest.param(TWO, {}, False, True, False, id="with the gate off Karmada asks for no components"),
        pytest.param(ONE, {}, True, True, False, id="one component is a number of replicas"),
        pytest.param(TWO, {"elastic": "none"}, True, True, True, id="the refusal names the reason"),
        pytest.param(TWO, {"operations": "ReviseComponents"}, True, True, False, id="components are not allowed"),
    ],
)
def test_components_are_revised_only_next_to_interpret_component(
    parts: Mapping[str, Scale], annotations: Mapping[str, str], gate: bool, known: bool, revised: bool
) -> None:
    definition = define(parts=parts, annotations=annotations)

    found = names(operations_for(definition, multiple_pod_templates=gate, component_revision=known))

    assert ("Rc" in found) is revised
    assert "Rc" not in found or "Co" in found


def test_instances_are_several_components() -> None:
    definition = define(parts={"group": replicas(".spec.group[].count")}, instances=True)

    assert names(operations_for(definition, multiple_pod_templates=True)) & {"Rp", "Co", "Rv"} == {"Co"}


@rows(
    ("elastic", "revised"),
    [
        pytest.param("worker", True, id="the elastic component can be written"),
        pytest.param("head", False, id="the elastic component is a literal"),
        pytest.param("none", True, id="without the call every cluster would get the whole"),
    ],
)
def test_only_elastic_components_are_revised(elastic: str, revised: bool) -> None:
    definition = define(parts=TWO, annotations={"elastic": elastic})

    assert ("Rv" in names(operations_for(definition))) is revised


@pytest.mark.parametrize("parts", [{"head": replicas("1")}, {"head": {}}], ids=["a literal", "no count"])
def test_undivided_kind_is_revised_whatever_its_count(parts: Mapping[str, Scale]) -> None:
    definition = define(parts=parts, annotations={"elastic": "none"})

    assert "Rv" in names(operations_for(definition))


@rows(
    ("served", "missing"),
    [
        pytest.param(None, set(), id="nothing is known: everything"),
        pytest.param(ServedKind(), set(), id="the schema does not say whether it observes the generation"),
        pytest.param(ServedKind(observes_generation=True), set(), id="it observes the generation"),
        pytest.param(ServedKind(observes_generation=False), {"St"}, id="Karmada reflects a whole status by itself"),
        pytest.param(ServedKind(status_subresource=False), {"Ag"}, id="UpdateStatus would fail"),
        pytest.param(
            ServedKind(namespaced=False), {"De"}, id="dependencies of cluster-scoped objects are not followed"
        ),
        pytest.param(ServedKind(served=False), EVERYTHING, id="the version is not served"),
    ],
)
def test_known_facts_of_a_kind_decide_its_operations(served: ServedKind | None, missing: set[str]) -> None:
    assert names(operations_for(define(parts=ONE), served)) == EVERYTHING - missing


def test_interpret_status_is_registered_if_karmada_picks_fields() -> None:
    definition = define(GVK("kubeflow.org", "v2beta1", "MPIJob"), ONE)

    assert "St" in names(operations_for(definition, ServedKind(observes_generation=False)))


@rows(
    ("suspend", "annotations", "present", "absent"),
    [
        pytest.param(False, {}, {"He"}, {"Re", "De"}, id="nothing to retain or to bring along"),
        pytest.param(True, {}, {"Re"}, {"De"}, id="a suspend switch is retained"),
        pytest.param(False, {"retain": ".spec.node"}, {"Re"}, {"De"}, id="the annotation retains"),
        pytest.param(False, {"dependencies": "[{apiVersion: v1, kind: Secret, name: .spec.secret}]"}, {"De"}, {"Re"},
            id="the annotation names dependencies"),
    ],
)  # fmt: skip
def test_definition_without_pods_has_operations(
    suspend: bool, annotations: Mapping[str, str], present: set[str], absent: set[str]
) -> None:
    operations = names(operations_for(define(suspend=suspend, annotations=annotations)))

    assert present <= operations
    assert absent.isdisjoint(operations)


def test_operations_annotation_restricts() -> None:
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
def test_operations_that_karmada_answers_depend_on_kind(
    gvk: GVK, parts: Mapping[str, Scale], expected: set[str]
) -> None:
    operations = names(operations_for(define(gvk, parts), multiple_pod_templates=True))

    assert operations & {"Rp", "Co", "Rv"} == expected


def scripts(*operations: str) -> Scripts:
    return Scripts(Script(operation, "", "mine") for operation in operations)


def only_scripts(gvk: GVK, *operations: str) -> Definition:
    return Definition.of_scripts(gvk, scripts(*operations))


@rows(
    ("operations", "off", "on"),
    [
        pytest.param(["InterpretHealth"], {"He"}, {"He"}, id="nothing but what is scripted"),
        pytest.param(["InterpretReplica", "ReviseReplica"], {"Rp", "Rv"}, {"Rp", "Rv"}, id="counted and revised"),
        pytest.param(["InterpretComponent"], set(), {"Co"}, id="without the gate nobody asks for components"),
        pytest.param(["InterpretReplica", "InterpretComponent", "ReviseReplica"], {"Rp", "Rv"}, {"Co"},
            id="components instead of a revision to 0"),
        pytest.param(["Retain", "InterpretDependency"], {"Re", "De"}, {"Re", "De"}, id="kept and brought along"),
        pytest.param(["AggregateStatus", "InterpretStatus"], {"Ag", "St"}, {"Ag", "St"}, id="reported"),
    ],
)  # fmt: skip
def test_kind_with_only_scripts_has_operations(operations: list[str], off: set[str], on: set[str]) -> None:
    definition = only_scripts(TOY, *operations)

    assert names(operations_for(definition)) == off
    assert names(operations_for(definition, multiple_pod_templates=True)) == on


@rows(
    ("operations", "served", "expected"),
    [
        pytest.param("InterpretStatus", ServedKind(observes_generation=False), {"St"}, id="a script adds what it adds"),
        pytest.param("AggregateStatus", ServedKind(status_subresource=False), set(), id="UpdateStatus would fail"),
        pytest.param("InterpretDependency", ServedKind(namespaced=False), set(), id="nobody follows them"),
        pytest.param("InterpretHealth", ServedKind(served=False), set(), id="the version is not served"),
    ],
)
def test_served_kind_decides_for_scripts(operations: str, served: ServedKind, expected: set[str]) -> None:
    assert names(operations_for(only_scripts(TOY, operations), served)) == expected


@rows(
    ("gvk", "operations", "expected"),
    [
        pytest.param(
            GVK("ray.io", "v1", "RayJob"), ["ReviseReplica"], set(), id="Karmada knows its components: no revision"
        ),
        pytest.param(
            GVK("ray.io", "v1", "RayJob"), ["InterpretHealth"], {"He"}, id="components only where we have them"
        ),
        pytest.param(
            GVK("ray.io", "v1", "RayService"), ["InterpretComponent"], set(), id="Karmada revises it: no components"
        ),
    ],
)
def test_scripts_depend_on_operations_that_karmada_answers(gvk: GVK, operations: list[str], expected: set[str]) -> None:
    assert names(operations_for(only_scripts(gvk, *operations), multiple_pod_templates=True)) == expected


@rows(
    ("parts", "operation", "off", "on"),
    [
        pytest.param(TWO, "ReviseReplica", {"Rv"}, {"Co"}, id="a revision of components would be one to 0"),
        pytest.param(ONE, "InterpretComponent", {"Rp", "Rv"}, {"Co"}, id="a script makes components of one"),
        pytest.param({}, "InterpretReplica", {"Rp"}, {"Rp"}, id="a script finds the pods that the Karta does not"),
    ],
)
def test_counting_where_a_script_stands_over_a_karta(
    parts: Mapping[str, Scale], operation: str, off: set[str], on: set[str]
) -> None:
    definition = define(parts=parts).overridden(scripts(operation))
    counting = {"Rp", "Co", "Rv"}

    assert names(operations_for(definition)) & counting == off
    assert names(operations_for(definition, multiple_pod_templates=True)) & counting == on


def test_script_is_registered_despite_operations_annotation() -> None:
    definition = define(parts=ONE, annotations={"operations": "InterpretHealth"}).overridden(scripts("Retain"))

    assert operations_for(definition) == ("Retain", "InterpretHealth")


_PARTS = st.dictionaries(
    st.sampled_from(["head", "worker", "driver"]),
    st.sampled_from([replicas("1"), replicas(".spec.count // 1"), {"minReplicasPath": ".spec.min"}, {}]),
    max_size=3,
)
_KINDS = st.sampled_from([TOY, *sorted(INTERPRETS_COMPONENT | REVISES_REPLICA)])
_SERVED = st.one_of(st.none(), st.builds(ServedKind))
_SOME = st.sets(st.sampled_from(["InterpretReplica", "InterpretComponent", "ReviseReplica", "Retain"]))


@st.composite
def _definitions(draw: st.DrawFn) -> Definition:
    """A definition with or without scripts over it, or scripts without a definition."""
    gvk, scripted, has_karta = draw(_KINDS), draw(_SOME), draw(st.booleans())
    if scripted and not has_karta:
        return only_scripts(gvk, *scripted)
    allowed = draw(_SOME)
    annotations = {"operations": ", ".join(sorted(allowed))} if allowed else {}
    karta = define(gvk, draw(_PARTS), instances=draw(st.booleans()), annotations=annotations)
    return karta.overridden(scripts(*scripted))


@given(_definitions(), _SERVED, st.booleans())
def test_registered_operations_scale_nothing_to_zero(
    definition: Definition, served: ServedKind | None, gate: bool
) -> None:
    ours = set(operations_for(definition, served, multiple_pod_templates=gate))

    assert not {"InterpretComponent", "ReviseReplica"} <= ours
    if gate:
        asked_for_components = "InterpretComponent" in ours or definition.gvk in INTERPRETS_COMPONENT
        revised = "ReviseReplica" in ours or definition.gvk in REVISES_REPLICA
        assert not (asked_for_components and revised)
