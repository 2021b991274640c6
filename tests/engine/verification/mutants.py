"""Wrong definitions, each made of a right one by a single mistake, and members in which the right ones agree."""

import copy
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import yaml

from karta_interpreter import Karta
from karta_interpreter.base.errors import InterpreterError
from karta_interpreter.base.k8s.edit import get
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.reference_resolver import Known, resolved
from karta_interpreter.definitions.karta.status_rules import FAILING, Status
from karta_interpreter.engine.evaluation.pods import PodSet, pod_sets
from karta_interpreter.engine.evaluation.status import match_status
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.engine.operations.interpret_health import is_stale
from karta_interpreter.engine.suites.suite import Case
from karta_interpreter.engine.verification import Evidence, Verdict, verify
from tests.engine.verification.member import NOW, Thing, ago, crashing, ready
from tests.support.managed_fields import Member

PREFIX = "karta-interpreter.io/"
_MOST_PODS = 12
_LABEL = re.compile(r"""\.metadata\.labels(?:\.([\w-]+)|\["([^"]+)"\])""")
_COMPARED = (Operation.INTERPRET_COMPONENT, Operation.INTERPRET_HEALTH, Operation.INTERPRET_DEPENDENCY)


_VOLUMES = {
    "ConfigMap": lambda name: {"configMap": {"name": name}},
    "Secret": lambda name: {"secret": {"secretName": name}},
    "PersistentVolumeClaim": lambda name: {"persistentVolumeClaim": {"claimName": name}},
}


class Mutant(NamedTuple):
    """A wrong definition. ``field`` is the place of its mistake, as verify names it."""

    mistake: str
    field: str
    definition: Definition


def mutants(manifest: Any) -> Iterator[Mutant]:
    """Yield the mutants of a manifest that are definitions without errors."""
    for mistake, field, changed in _changes(manifest):
        try:
            yield Mutant(mistake, field, Karta.load(changed).definition)
        except InterpreterError:
            continue


def _changes(manifest: Any) -> Iterator[tuple[str, str, Thing]]:
    structure = manifest["spec"]["structureDefinition"]
    children = range(len(structure.get("childComponents") or []))
    places: list[tuple[str | int, ...]] = [("rootComponent",), *(("childComponents", number) for number in children)]
    for place in places:
        text = "spec.structureDefinition." + "".join(f"[{step}]" if isinstance(step, int) else step for step in place)
        yield from _of_component(manifest, ("spec", "structureDefinition", *place), text)
        if len(place) > 1:
            fewer = copy.deepcopy(manifest)
            del fewer["spec"]["structureDefinition"]["childComponents"][int(place[1])]
            yield "a component less", "spec.structureDefinition.childComponents", fewer
    yield from _of_status(manifest)
    for name, mistake in (("added-containers", "a container"), ("dependencies", "a dependency"), ("retain", "a field")):
        value = yaml.safe_load(manifest["metadata"].get("annotations", {}).get(PREFIX + name, "null"))
        for key in value if isinstance(value, dict) else range(len(value or ())):
            # Pods show no other dependencies, such as the templates of an analysis.
            if name == "dependencies" and value[key].get("kind") not in _VOLUMES:
                continue
            fewer = copy.deepcopy(manifest)
            left: Any = {each: value[each] for each in value if each != key} if isinstance(value, dict) else None
            left = left if left is not None else [each for number, each in enumerate(value) if number != key]
            fewer["metadata"]["annotations"].pop(PREFIX + name)
            if left:
                fewer["metadata"]["annotations"][PREFIX + name] = json.dumps(left)
            yield f"{mistake} less", f"metadata.annotations.{PREFIX}{name}", fewer


def _of_component(manifest: Any, place: Sequence[str | int], text: str) -> Iterator[tuple[str, str, Thing]]:
    component = get(manifest, tuple(place))
    count = get(component, ("scaleDefinition", "replicasPath"))
    if count:
        for wrong in (f"({count}) | tonumber + 1", "7"):
            changed = copy.deepcopy(manifest)
            get(changed, tuple(place))["scaleDefinition"]["replicasPath"] = wrong
            yield "a wrong count", f"{text}.scaleDefinition.replicasPath", changed
    for name in ("podTemplateSpecPath", "podSpecPath"):
        if query := get(component, ("specDefinition", name)):
            spec = ".spec" if name == "podTemplateSpecPath" else ""
            for wrong in (f"({query}) | del({spec}.containers[0])", f"({query}) | del({spec}.containers[].resources)"):
                changed = copy.deepcopy(manifest)
                get(changed, tuple(place))["specDefinition"][name] = _functional(wrong)
                yield "a wrong template", f"{text}.specDefinition.{name}", changed


def _functional(text: str) -> str:
    """Return an expression without assignment, which definitions must not have."""
    query, _, removed = text.rpartition(" | del(")
    path = removed.removesuffix(")")
    spec, _, rest = path.rpartition(".containers")
    fewer = "[.[1:][]]" if rest == "[0]" else "map({name, image, env, envFrom, volumeMounts})"
    whole = f"{{containers: (.containers | {fewer})}}"
    return f"{query} | . + {{spec: (.spec + (.spec | {whole}))}}" if spec else f"{query} | . + {whole}"


def _of_status(manifest: Any) -> Iterator[tuple[str, str, Thing]]:
    place = ("spec", "structureDefinition", "rootComponent", "statusDefinition", "statusMappings")
    mappings = get(manifest, place) or {}
    bad = next((name for name in ("failed", "degraded") if name in mappings), None)
    if "running" in mappings and bad:
        changed = copy.deepcopy(manifest)
        get(changed, place).update({"running": mappings[bad], bad: mappings["running"]})
        yield "a status turned round", ".".join(place), changed
    if "running" in mappings and len(mappings) > 1:
        changed = copy.deepcopy(manifest)
        del get(changed, place)["running"]
        yield "a status less", ".".join(place), changed


def members(definition: Definition, cases: Iterable[Case]) -> Iterator[Evidence]:
    """Yield what a member shows of the objects of suites, if the definition is right about them."""
    cases = list(cases)
    donor: Any = next((case.call.object.get("spec") or {} for case in cases if _pods(definition, case)), {})
    for case in cases:
        try:
            shown = _member(definition, case, donor)
        except (InterpreterError, KeyError, TypeError, AttributeError):
            continue
        if shown and Verdict.DIFFERS not in {each.verdict for each in verify(definition, shown)}:
            yield shown


def _pods(definition: Definition, case: Case) -> int:
    """Return how many pods the object of a case has, 0 if that is unknown."""
    try:
        bound = resolved(definition, case.call.object, Known.of(case.references))
        return sum(each.replicas for each in pod_sets(bound, case.call.object))
    except InterpreterError:
        return 0


def _member(definition: Definition, case: Case, donor: Any) -> Evidence | None:
    """Return the object of a case with pods. An object that is only a status gets the spec of another one."""
    reader = Known.of(case.references)
    obj = copy.deepcopy(dict(case.call.object))
    if case.call.observed is not None:
        # The member after Karmada has written: it has its own values only where Retain keeps them.
        obj = dict(interpret(definition, case.call, reader=reader)["retained"])
    fields = _fields(case.call.object, obj) if case.call.observed is not None else []
    if case.call.operation is Operation.INTERPRET_HEALTH and not _pods(definition, case):
        obj["spec"] = {**donor, **(obj.get("spec") or {})}
    metadata = {name: value for name, value in obj["metadata"].items() if name != "deletionTimestamp"}
    obj["metadata"] = {**metadata, "creationTimestamp": ago(3600), "managedFields": fields}
    if is_stale(definition, obj):
        # Questions about pods wait until the controller has seen the last generation.
        obj["metadata"]["generation"] = get(obj, ("status", "observedGeneration"))
    definition = resolved(definition, obj, reader)
    sets = pod_sets(definition, obj)
    if sum(each.replicas for each in sets) > _MOST_PODS:
        return None
    matched = match_status(definition, obj).matched
    status = ready() if Status.RUNNING in matched else crashing() if FAILING.intersection(matched) else None
    pods = [_pod(definition, each, number, status) for each in sets for number in range(each.replicas)]
    made = _refer(definition, obj, pods, reader)
    return Evidence(obj, tuple(pods), made=made, now=NOW, reader=reader)


def _refer(definition: Definition, obj: Thing, pods: list[Thing], reader: Known) -> dict[str, bool]:
    """Have the first pod refer to everything that is needed, as an operator would, and return what a member has."""
    call = Call(Operation.INTERPRET_DEPENDENCY, obj)
    needed = interpret(definition, call, reader=reader)["dependencies"] if definition.answers(call.operation) else []
    volumes = [_VOLUMES[each["kind"]](each["name"]) for each in needed if each["kind"] in _VOLUMES]
    for first in pods[:1]:
        first["spec"] = {**first["spec"], "volumes": [*(first["spec"].get("volumes") or ()), *volumes]}
    return {f"{each['kind']}/{each['name']}": False for each in needed if each["kind"] in _VOLUMES.keys() - {"Secret"}}


def _fields(template: Any, observed: Any) -> list[Thing]:
    """Return the managers of an object that Karmada wrote, and that the member changed."""
    member = Member({"metadata": {}})
    annotations = {**(get(template, ("metadata", "annotations")) or {}), "work.karmada.io/name": "w"}
    member.write({**template, "metadata": {**template["metadata"], "annotations": annotations}}, "karmada", NOW - 60)
    metadata = {**observed["metadata"], "annotations": annotations}
    member.write({**observed, "metadata": metadata}, "operator", NOW - 30)
    found: list[Thing] = member.live["metadata"]["managedFields"]
    return found


def _pod(definition: Definition, pods: PodSet, number: int, status: Thing | None) -> Thing:
    component = definition.component(pods.component)
    assert component is not None
    labels = {**(get(pods.template, ("metadata", "labels")) or {})}
    if selector := component.selector.component_type:
        labels |= selector.labels
        for name in _names(selector.key.text) if selector.key else ():
            labels[name] = selector.value or "x"
    if component.selector.instance_id is not None:
        labels |= dict.fromkeys(_names(component.selector.instance_id.text), pods.instance)
    metadata = {"name": f"{pods.name}-{number}", "creationTimestamp": ago(3600), "labels": labels}
    metadata["annotations"] = get(pods.template, ("metadata", "annotations")) or {}
    pending = {"phase": "Pending"}
    return {"kind": "Pod", "metadata": metadata, "spec": pods.template["spec"], "status": status or pending}


def _names(text: str) -> list[str]:
    return [plain or quoted for plain, quoted in _LABEL.findall(text)]


def changes_an_answer(right: Definition, wrong: Definition, shown: Evidence) -> bool:
    """Return whether a mistake changes an answer about an object."""
    return _answers(right, shown) != _answers(wrong, shown)


def _answers(definition: Definition, shown: Evidence) -> list[object]:
    found: list[object] = []
    for operation in (*_COMPARED, Operation.RETAIN):
        # An object that others have not changed is not retained.
        observed = shown.object if operation is Operation.RETAIN else None
        call = Call(operation, _without_changes(definition, shown.object) if observed else shown.object, observed)
        try:
            found.append(interpret(definition, call, reader=shown.reader) if definition.answers(operation) else None)
        except InterpreterError as error:
            found.append(type(error))
    return found


def _without_changes(definition: Definition, obj: Any) -> Any:
    from karta_interpreter.engine.fights.rounds import owners  # noqa: PLC0415 - what verify asks Retain about
    from karta_interpreter.engine.verification.retention import template_of  # noqa: PLC0415 - as above

    return template_of(definition, obj, owners(obj))[0] if owners(obj) else obj


def new_fields(right: Definition, wrong: Definition, shown: Evidence) -> list[str]:
    """Return the fields that verify names for the wrong definition, and not for the right one."""
    before = {each[:3] for each in verify(right, shown)}
    found = [each for each in verify(wrong, shown) if each.verdict is Verdict.DIFFERS and each[:3] not in before]
    return [each.field for each in found]
