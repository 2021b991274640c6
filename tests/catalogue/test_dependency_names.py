"""Names of dependencies that no object can have are left out: Karmada's client refuses some of them for ever."""

from collections.abc import Iterator, Sequence
from itertools import chain, count, cycle
from typing import Any

import pytest

from karta_interpreter.base.errors import ExportError, InterpretationError
from karta_interpreter.base.k8s import edit, parts_within
from karta_interpreter.base.k8s.values import GVK, JSON, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.sources.files import find_in_catalogue
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.engine.suites.suite import Case
from karta_interpreter.export.customization import script_of
from karta_interpreter.languages.lua.script import Script
from tests.catalogue.entries import answers, applies
from tests.catalogue.knowledge import knowing
from tests.support.rows import rows
from tests.support.scripts import answer

# What templates of Argo Workflows, Tekton and Helm leave in a name, and names of paths.
ODD = ["{{=a/b}}", "$(params.x)", "a/b", "a%2fb", "..", ".", "a b", "{{x}}", "/", "n" * 254, "a\n"]


def is_refused(name: str) -> bool:
    """Tell whether Karmada's client refuses a name (IsPathSegmentName in apimachinery, pkg/api/validate/content)."""
    return name in (".", "..") or "/" in name or "%" in name


def _dependencies(definition: Definition, obj: Object) -> Sequence[Object]:
    try:
        return interpret(knowing(definition, obj), Call(Operation.INTERPRET_DEPENDENCY, obj))["dependencies"]
    except InterpretationError:
        return ()  # of an object whose template has a wrong type


def _with_odd_names(definition: Definition, cases: Sequence[Case]) -> Iterator[Object]:
    """Yield the objects of cases, with an odd name in the place of each name of a dependency."""
    numbers = count(len(definition.name))
    for obj in [case.call.object for case in cases]:
        changed = obj
        for name in {dependency.get("name", "") for dependency in _dependencies(definition, obj)} - {""}:
            for path in (path for path, value in parts_within(obj) if value == name):
                changed = edit.set_value(changed, path, ODD[next(numbers) % len(ODD)])
        if changed != obj:
            yield changed


@pytest.mark.slow
@applies(answers(Operation.INTERPRET_DEPENDENCY, scripted=False))
def test_names_that_no_object_can_have_are_left_out(definition: Definition, cases: Sequence[Case]) -> None:
    for obj in _with_odd_names(definition, cases):
        dependencies = _dependencies(definition, obj)
        named = chain.from_iterable((one.get("name", ""), one.get("namespace", "")) for one in dependencies)
        assert not [name for name in named if is_refused(name) or name in ODD]


@pytest.mark.sweep
@applies(answers(Operation.INTERPRET_DEPENDENCY, scripted=False))
def test_exported_script_leaves_the_same_names_out(definition: Definition, cases: Sequence[Case]) -> None:
    try:
        text = script_of(definition, Operation.INTERPRET_DEPENDENCY)
    except ExportError:
        return
    script = Script(Operation.INTERPRET_DEPENDENCY, text, definition.name)
    for obj in list(_with_odd_names(definition, cases))[:3]:
        expected = interpret(definition, Call(Operation.INTERPRET_DEPENDENCY, obj))["dependencies"]
        assert answer([script], object=obj)["dependencies"] == expected


def _with_places(value: JSON, places: Iterator[str]) -> JSON:
    """Return a value in which each object names a namespace, whatever the kind calls it."""
    if isinstance(value, list):
        return [_with_places(item, places) for item in value]
    if not isinstance(value, dict):
        return value
    named = {key: _with_places(part, places) for key, part in value.items()}
    fields = {"namespace", "configMapNamespace"} | {key for key in value if key.endswith("amespace")}
    return named | {field: next(places) for field in fields if isinstance(value.get(field, ""), str)}


def _about_others(objects: Sequence[Object]) -> Iterator[Object]:
    """Yield objects of a namespace whose specs name others, and each as it is."""
    for number, obj in enumerate(objects):
        places = cycle(["victim", "shop", "", "victim/crown", "shop"][number % 3 :])
        metadata = {**(obj.get("metadata") or {}), "namespace": "shop"}
        yield {**obj, "metadata": metadata}
        yield {**obj, "metadata": metadata, "spec": _with_places(obj.get("spec"), places)}


@pytest.mark.sweep
@applies(answers(Operation.INTERPRET_DEPENDENCY))
def test_dependencies_are_of_the_namespace_of_the_object(definition: Definition, objects: Sequence[Object]) -> None:
    for obj in _about_others(objects):
        assert {one.get("namespace") for one in _dependencies(definition, obj)} <= {"shop"}


@pytest.mark.sweep
@applies(answers(Operation.INTERPRET_DEPENDENCY, scripted=False))
def test_exported_script_names_the_same_of_the_namespace(definition: Definition, objects: Sequence[Object]) -> None:
    try:
        text = script_of(definition, Operation.INTERPRET_DEPENDENCY)
    except ExportError:
        return
    script = Script(Operation.INTERPRET_DEPENDENCY, text, definition.name)
    for obj in list(_about_others(objects))[:12]:
        named = answer([script], object=obj)["dependencies"]
        assert {one.get("namespace") for one in named} <= {"shop"}
        if not definition.references:
            assert named == _dependencies(definition, obj)


_LOCKS: Any = {"semaphores": [{"namespace": "shop", "configMapKeyRef": {"name": "gate"}}]}
_LOCKS["semaphores"].append({"namespace": "victim", "configMapKeyRef": {"name": "crown"}})
_PLUGIN: Any = {"argoproj-labs/gatewayAPI": {"namespace": "shop", "httpRoute": "gate", "httpRoutes": [{"name": "way"}]}}


@rows(
    ("kind", "spec", "names"),
    [
        pytest.param("argoproj.io/v1alpha1 Workflow", {"synchronization": _LOCKS}, ["gate"], id="locks"),
        pytest.param("argoproj.io/v1alpha1 CronWorkflow", {"workflowSpec": {"synchronization": _LOCKS}}, ["gate"],
                     id="locks of what a CronWorkflow starts"),
        pytest.param("argoproj.io/v1alpha1 Rollout",
                     {"strategy": {"canary": {"trafficRouting": {"plugins": _PLUGIN}}}}, ["gate", "way"],
                     id="routes of a plug-in"),
        pytest.param("kubevirt.io/v1 VirtualMachineInstance",
                     {"networks": [{"multus": {"networkName": name}} for name in ("own", "shop/gate", "victim/crown")]},
                     ["gate", "own"], id="a namespace in front of the name"),
    ],
)  # fmt: skip
def test_own_namespace_may_be_written_out(kind: str, spec: Object, names: list[str]) -> None:
    api_version, name = kind.split()
    entry = find_in_catalogue(GVK.parse(api_version, name))
    assert entry
    obj = {"apiVersion": api_version, "kind": name, "metadata": {"name": "web", "namespace": "shop"}, "spec": spec}
    assert [one["name"] for one in _dependencies(entry.definition, obj)] == names
