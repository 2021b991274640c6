"""Wrong definitions, each made of a right one by a single mistake."""

import copy
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import yaml

from karta_interpreter import Karta
from karta_interpreter.base.errors import InterpreterError
from karta_interpreter.base.k8s.edit import get
from karta_interpreter.base.karmada import COUNTING_OPERATIONS
from karta_interpreter.definitions.karta.annotation_records import ANNOTATIONS
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.evaluation import pod_sets
from karta_interpreter.engine.fights.rounds import owners
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.engine.verification import Evidence, Judgement, Verdict, verify
from karta_interpreter.engine.verification.members import members
from karta_interpreter.engine.verification.retention import template_of
from karta_interpreter.languages.lua.reading import without_linting
from tests.engine.verification.member import Thing

_ROOT = ("spec", "structureDefinition", "rootComponent")
PREFIX = "karta-interpreter.io/"
_COMPARED = (
    Operation.INTERPRET_COMPONENT,
    Operation.INTERPRET_HEALTH,
    Operation.INTERPRET_DEPENDENCY,
    Operation.RETAIN,
)
_IN_PODS = ("ConfigMap", "Secret", "PersistentVolumeClaim")


class Mutant(NamedTuple):
    """A wrong definition. ``fields`` are the places of its mistake, as verify names them: two of an exchange."""

    mistake: str
    fields: tuple[str, ...]
    definition: Definition

    @property
    def field(self) -> str:
        """The first place of the mistake."""
        return self.fields[0]


_LISTED = {
    "added-containers": "an added container less",
    "dependencies": "a dependency less",
    "retain": "a kept field less",
}
"""Annotations with a list or an object of parts, and the mistake of leaving one out."""
_COUNTS = {
    "a wrong count": "({}) | tonumber + 1",
    "a count of 7": "7",
    "a count of one less": "({}) | tonumber - 1",
    "a count of the status": ".status | (.replicas // .readyReplicas // .active // 0)",
}
_TEMPLATES = {
    "a container less": ".[1:][]",
    "no requests": ".[] | {name, image, env, envFrom, volumeMounts}",
    "wrong requests": '.[] | . + {resources: {requests: {cpu: "77"}}}',
    "a container more": '.[], (.[0] | . + {name: "more"})',
    "limits for requests": ".[] | . + {resources: {requests: .resources.limits}}",
}
_SPECS = {"no volumes": "{volumes: []}", "no init containers": "{initContainers: []}"}
"""Mistakes in the spec of a template, next to its containers."""


_FILTER = r"\s*\|\s*select\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
"""A filter, with parentheses in it twice at most."""
_TEXTS: dict[str, tuple[str, Callable[[re.Match[str]], str]]] = {
    "another default": (r"// (\d+)", lambda match: f"// {int(match[1]) + 1}"),
    "a filter less": (_FILTER, lambda _: ""),
    "a comparison turned round": (r"[!=]=", lambda match: "==" if match[0] == "!=" else "!="),
    "and for or": (r"\b(?:and|or)\b", lambda match: "or" if match[0] == "and" else "and"),
    "another aggregate": (r"\| (?:min|max|add)\b", lambda match: "| min" if "max" in match[0] else "| max"),
    "the second for the first": (r"\[0\]", lambda _: "[1]"),
    "a factor less": (r" \* \((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)", lambda _: ""),
    "an alternative less": (r" // \.[\w.\[\]]+", lambda _: ""),
    "a bound shifted": (r" ([<>])(=?) ", lambda match: f" {match[1]}{'' if match[2] else '='} "),
    "more for less": (r" [<>](?==? )", lambda match: " >" if "<" in match[0] else " <"),
    "a negation less": (r" \| not\b", lambda _: ""),
    "the first of all": (r"(?<=\w)\[\](?!\?)", lambda _: "[0]"),
    "branches exchanged": (
        r"\bif ((?:(?!\b(?:if|end)\b).)+) then ((?:(?!\b(?:if|end)\b).)+) else ((?:(?!\b(?:if|end)\b).)+) end",
        lambda match: f"if {match[1]} then {match[3]} else {match[2]} end",
    ),
    "a default less": (r" // \d+", lambda _: ""),
    "a default of 0": (r"// [1-9]\d*", lambda _: "// 0"),
    "one more than its length": (r"\blength\b", lambda _: "(length + 1)"),
    "a sum for a product": (r" \* ", lambda _: " + "),
    "a sum for a difference": (r" - ", lambda _: " + "),
    "a misspelled value": (r'== "(\w+)"', lambda match: f'== "{match[1]}s"'),
    "true for false": (r"\b(?:true|false)\b", lambda match: "true" if match[0] == "false" else "false"),
    "a misspelled path": (r"(\.[a-z]\w{3,})\b(?!\()", lambda match: f"{match[1]}s"),
}
"""Mistakes within an expression, each made where it is possible first."""


_OF_CHANGES = ("changeable", "fixed", "immutable", "share")
"""The words of rules about what a template may change."""


def mutants(manifest: Any) -> Iterator[Mutant]:
    """Yield the mutants of a manifest that are definitions without errors. The linter is not asked about them."""
    for mistake, fields, changed in (*_exchanged(manifest), *_single(manifest)):
        with suppress(InterpreterError):
            yield Mutant(mistake, fields, _unlinted(changed))


def _unlinted(manifest: Thing) -> Definition:
    with without_linting():
        return Karta.load(manifest).definition


def _single(manifest: Any) -> Iterator[tuple[str, tuple[str, ...], Thing]]:
    """Yield the changes in one place."""
    return ((mistake, (field,), changed) for mistake, field, changed in _changes(manifest))


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
    for name, mistake in _LISTED.items():
        value = yaml.safe_load(manifest["metadata"].get("annotations", {}).get(PREFIX + name, "null"))
        for key in value if isinstance(value, dict) else range(len(value or ())):
            # Pods show no other dependencies, such as the templates of an analysis.
            if name == "dependencies" and value[key].get("kind") not in _IN_PODS:
                continue
            # It is about a change of the template, which no state shows.
            if name == "retain" and any(word in value[key] for word in _OF_CHANGES):
                continue
            fewer = copy.deepcopy(manifest)
            left: Any = {each: value[each] for each in value if each != key} if isinstance(value, dict) else None
            left = left if left is not None else [each for number, each in enumerate(value) if number != key]
            fewer["metadata"]["annotations"].pop(PREFIX + name)
            if left:
                fewer["metadata"]["annotations"][PREFIX + name] = json.dumps(left)
            yield mistake, f"metadata.annotations.{PREFIX}{name}", fewer
    if added := manifest["metadata"].get("annotations", {}).get(f"{PREFIX}added-containers"):
        place = ("metadata", "annotations", f"{PREFIX}added-containers")
        wrong = {
            "other requests of added containers": re.sub(r'(cpu"?: *)"\w+"', r'\1"77"', added),
            "other names of added containers": re.sub(r'(name"?: *)"([^"]+)"', r'\1"\2s"', added),
        }
        yield from ((mistake, ".".join(place), _with(manifest, place, text)) for mistake, text in wrong.items())


def _exchanged(manifest: Any) -> Iterator[tuple[str, tuple[str, ...], Thing]]:
    """Exchange the templates or the counts of two children."""
    children = manifest["spec"]["structureDefinition"].get("childComponents") or []
    parts = {"specDefinition": "two templates exchanged", "scaleDefinition": "two counts exchanged"}
    for (one, first), (other, second) in combinations(enumerate(children), 2):
        for part, mistake in parts.items():
            if first.get(part) and second.get(part) and first[part] != second[part]:
                changed = copy.deepcopy(manifest)
                swapped = changed["spec"]["structureDefinition"]["childComponents"]
                swapped[one][part], swapped[other][part] = second[part], first[part]
                at = "spec.structureDefinition.childComponents[{}]." + f"{part}.{next(iter(first[part]))}"
                yield mistake, (at.format(one), at.format(other)), changed


def _of_component(manifest: Any, place: Sequence[str | int], text: str) -> Iterator[tuple[str, str, Thing]]:
    component = get(manifest, tuple(place))
    scale = component.get("scaleDefinition") or {}
    name = "replicasPath" if "replicasPath" in scale else "minReplicasPath"
    if count := scale.get(name):
        at, field = (*place, "scaleDefinition", name), f"{text}.scaleDefinition.{name}"
        for mistake, wrong in _COUNTS.items():
            yield mistake, field, _with(manifest, at, wrong.format(count))
        for mistake, wrong in _misspelled(count):
            yield mistake, field, _with(manifest, at, wrong)
    for name in ("podTemplateSpecPath", "podSpecPath"):
        if query := get(component, ("specDefinition", name)):
            spec = ".spec" if name == "podTemplateSpecPath" else ""
            for mistake, containers in _TEMPLATES.items():
                wrong = _replaced(query, spec, f"{{containers: [.containers | {containers}]}}")
                yield mistake, f"{text}.specDefinition.{name}", _with(manifest, (*place, "specDefinition", name), wrong)
            parts = ((mistake, _replaced(query, spec, part)) for mistake, part in _SPECS.items())
            for mistake, wrong in (*parts, *_misspelled(query)):
                changed = _with(manifest, (*place, "specDefinition", name), wrong)
                yield mistake, f"{text}.specDefinition.{name}", changed
    labels = ((kind, path, get(component, path)) for kind, path in _SELECTORS.items())
    yield from (
        (f"another {kind}", f"{text}.{path[0]}", _with(manifest, (*place, *path), _other(label)))
        for kind, path, label in labels
        if label
    )


_SELECTORS = {
    "key of its pods": ("podSelector", "componentTypeSelector", "keyPath"),
    "label of its pods": ("podSelector", "componentTypeSelector", "value"),
    "key of an instance": ("podSelector", "componentInstanceSelector", "idPath"),
    "id of an instance": ("instanceIdPath",),
}


def _other(label: str) -> str:
    """Return another value of a label, or another path of its key."""
    return re.sub(r'("\])?$', lambda match: f"s{match[0]}", label, count=1) if label.startswith(".") else f"{label}s"


def _misspelled(expression: str) -> Iterator[tuple[str, str]]:
    """Yield the mistakes within an expression."""
    for mistake, (pattern, wrong) in _TEXTS.items():
        changed = re.sub(pattern, wrong, expression, count=1)
        if changed != expression:
            yield mistake, changed


def _with(manifest: Any, path: Sequence[str | int], value: object) -> Any:
    changed = copy.deepcopy(manifest)
    get(changed, tuple(path[:-1]))[path[-1]] = value
    return changed


def _replaced(query: str, spec: str, whole: str) -> str:
    """Return an expression with other parts of a pod, without assignment, which definitions must not have."""
    return f"{query} | . + {{spec: (.spec + (.spec | {whole}))}}" if spec else f"{query} | . + {whole}"


def _of_status(manifest: Any) -> Iterator[tuple[str, str, Thing]]:
    if health := manifest["metadata"].get("annotations", {}).get(f"{PREFIX}health"):
        for mistake, wrong in (("health turned round", f"({health}) | not"), ("always healthy", "true")):
            yield (
                mistake,
                f"metadata.annotations.{PREFIX}health",
                _with(manifest, ("metadata", "annotations", f"{PREFIX}health"), wrong),
            )
    place = (*_ROOT, "statusDefinition", "statusMappings")
    mappings, field = get(manifest, place) or {}, ".".join(place)
    bad = [name for name in ("failed", "degraded", "initializing") if mappings.get(name)]
    if "running" not in mappings:
        return
    running = mappings["running"]
    for name in bad[:1]:
        yield (
            "a status turned round",
            field,
            _with(manifest, place, {**mappings, "running": mappings[name], name: running}),
        )
    for name in bad:
        mistake = "a waiting status counts as running" if name == "initializing" else "a bad status counts as running"
        left = {other: rules for other, rules in mappings.items() if other != name}
        yield mistake, field, _with(manifest, place, {**left, "running": [*running, *mappings[name]]})
    for part in ("phaseDefinition", "conditionsDefinition"):
        if path := get(manifest, (*place[:-1], part, "path")):
            yield "a status read elsewhere", field, _with(manifest, (*place[:-1], part, "path"), f"{path}s")
    yield from _of_mappings(manifest, mappings)
    if len(mappings) > 1:
        yield (
            "a status less",
            field,
            _with(manifest, place, {n: rules for n, rules in mappings.items() if n != "running"}),
        )


def _of_mappings(manifest: Any, mappings: Thing) -> Iterator[tuple[str, str, Thing]]:
    place = (*_ROOT, "statusDefinition", "statusMappings")

    def mutant(mistake: str, **wrong: object) -> tuple[str, str, Thing]:
        return mistake, ".".join(place), _with(manifest, place, {**mappings, **wrong})

    for one, other in combinations(mappings, 2):
        yield mutant("two statuses exchanged", **{one: mappings[other], other: mappings[one]})
    for name, (rule, *others) in mappings.items():
        if others:
            yield mutant("a rule of a status less", **{name: others})
        for turned in _turned(rule):
            yield mutant("a condition turned round", **{name: [turned, *others]})
        if "byPhase" in rule:
            yield mutant("a misspelled phase", **{name: [{**rule, "byPhase": f"{rule['byPhase']}s"}, *others]})
        for wrong in _misread(rule):
            yield mutant("a misread condition", **{name: [wrong, *others]})
        for mistake, text in _misspelled(get(rule, ("byExpression", "expression"), "")):
            wrong = {"byExpression": {**rule["byExpression"], "expression": text}}
            yield mutant(mistake, **{name: [wrong, *others]})


def _misread(rule: Thing) -> Iterator[Thing]:
    """Yield a rule with a misspelled type of its first condition, without its reason, and without a condition."""
    conditions: list[Thing] = rule.get("byConditions") or [{}]
    first, others = conditions[0], conditions[1:]
    if "type" in first:
        yield {**rule, "byConditions": [{**first, "type": f"{first['type']}s"}, *others]}
    if "reason" in first:
        yield {**rule, "byConditions": [{name: first[name] for name in first if name != "reason"}, *others]}
    if others:
        yield {**rule, "byConditions": others}


def _turned(rule: Thing) -> Iterator[Thing]:
    opposite = {"True": "False", "False": "True"}
    for number, condition in enumerate(rule.get("byConditions") or ()):
        if condition.get("status") in opposite:
            turned = {**condition, "status": opposite[condition["status"]]}
            conditions = rule["byConditions"]
            yield {**rule, "byConditions": [*conditions[:number], turned, *conditions[number + 1 :]]}


def answers(definition: Definition, shown: Evidence) -> list[object]:
    """Return the answers about an object that verify compares."""
    return [answer(definition, shown) for answer in _ANSWERS.values()]


def _attributed(definition: Definition, shown: Evidence) -> object:
    """Return the number of pods of each pod set, as their selectors tell, of a definition that counts them."""
    if not any(map(definition.answers, COUNTING_OPERATIONS)):
        return ()
    try:
        found = members(definition, pod_sets(definition, shown.object), shown.own)
    except InterpreterError as error:
        return type(error)
    return [(group.name, len(group.pods)) for group in found.groups if group.pods], len(found.strays)


def _answer(operation: Operation, definition: Definition, shown: Evidence) -> object:
    obj = shown.object
    # An object that others have not changed is not retained.
    retained = _without_changes(definition, obj) if operation is Operation.RETAIN else obj
    call = Call(operation, retained, obj if operation is Operation.RETAIN else None)
    try:
        answer = interpret(definition, call, reader=shown.reader) if definition.answers(operation) else {}
    except InterpreterError as error:
        return type(error)
    # No pod shows what a component without pods requests.
    components: Any = answer.get("components")
    return answer if components is None else [_compared(each) for each in components if each["replicas"]]


def _compared(component: Any) -> Thing:
    """Return a component without the nodes that its pods may run on, which verify does not compare."""
    required = {name: value for name, value in component.get("replicaRequirements", {}).items() if name != "nodeClaim"}
    return {**component, "replicaRequirements": required}


_ANSWERS: dict[Operation | None, Callable[[Definition, Evidence], object]] = {
    **{operation: partial(_answer, operation) for operation in _COMPARED},
    None: _attributed,
}
_READ_BY = {
    ".".join((*_ROOT, "statusDefinition", "")): {Operation.INTERPRET_HEALTH},
    **{f"metadata.annotations.{PREFIX}{annotation.name}": annotation.read_by for annotation in ANNOTATIONS},
}
"""The operations with answers that depend on a field, by how its place begins. All depend on any other field."""


def _differs(mutant: Mutant, shown: Evidence, right: Iterable[object]) -> bool:
    """Return whether a mutant changes an answer about an object."""
    asked = next((read_by for place, read_by in _READ_BY.items() if mutant.field.startswith(place)), _ANSWERS)
    return any(
        operation in asked and answer(mutant.definition, shown) != expected
        for (operation, answer), expected in zip(_ANSWERS.items(), right, strict=True)
    )


def _without_changes(definition: Definition, obj: Any) -> Any:
    owned = owners(obj)
    return template_of(definition, obj, owned)[0] if owned else obj


class Outcome(NamedTuple):
    """What verify says about a mutant in the states of which it changes an answer."""

    mutant: Mutant
    states: int
    fields: tuple[str, ...]

    @property
    def is_named(self) -> bool:
        """Whether verify names a field with the mistake."""
        return not {*self.mutant.fields}.isdisjoint(self.fields)


def outcomes(definition: Definition, states: Sequence[Evidence]) -> Iterator[Outcome]:
    """Yield the outcome of each mutant that changes an answer about one of the states."""
    before = [(shown, answers(definition, shown), verify(definition, shown)) for shown in states]
    for mutant in mutants(definition.manifest):
        visible, fields = 0, dict[str, None]()
        for shown, right, judgements in before:
            if not fields.keys().isdisjoint(mutant.fields) or not _differs(mutant, shown, right):
                continue
            visible += 1
            fields |= dict.fromkeys(new_fields(judgements, mutant.definition, shown))
        if visible:
            yield Outcome(mutant, visible, tuple(fields))


def new_fields(before: Iterable[Judgement], wrong: Definition, shown: Evidence) -> list[str]:
    """Return the fields that verify names for the wrong definition, and not for the right one."""
    known = {each[:3] for each in before}
    found = [each for each in verify(wrong, shown) if each.verdict is Verdict.DIFFERS and each[:3] not in known]
    return [each.field for each in found]
