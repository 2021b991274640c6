"""Hints for a part of a Karta that does not fit its schema: its right place, name or shape."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, get_args, get_origin

from karta_interpreter.base.findings import BY_TYPES, Finding, closest, error, warning
from karta_interpreter.base.k8s import JSON, Path, edit, type_name
from karta_interpreter.definitions.karta.annotations import PREFIX
from karta_interpreter.definitions.karta.expressions import json_path_hint
from karta_interpreter.definitions.karta.model import GroupVersionKind, Spec
from karta_interpreter.definitions.karta.schema_types import Schema

INDENT: Final = "write its fields below its name, indented"
_TYPE_META = "write {group: batch, version: v1, kind: Job}"

# Longer texts are not shown in a shape.
_LONGEST_TEXT = 252
# A text that needs no quotes in { }, and the field that is shown in place of the first one.
_PLAIN = re.compile(r"\.?[A-Za-z$_][-\w.$/ ]*")
_FIRST: Final = {"initializing": "running", "podGroups": "podGroup"}
# Two names that begin with the same word, with a space between them.
_SAME_WORD = re.compile(r"([A-Za-z]{5,32})\w* \1\w*")

# Fields that are documented, but not in any released schema, and those of other objects.
_GHOSTS = {
    "ownerName": "older documentation calls ownerRef so; write ownerRef",
    "fragmentedPodDefinition": "older documentation calls fragmentedPodSpecDefinition so; write that",
    **dict.fromkeys(
        ("target", "customizations", "names", "scope", "versions"),
        "it belongs to another object: the rootComponent of a Karta has the kind, and expressions instead of scripts",
    ),
    "key": "write keyPath: '.metadata.labels[\"KEY\"]'",
    **dict.fromkeys(
        ("matchLabels", "matchExpressions"),
        "componentTypeSelector: {keyPath: '.metadata.labels[\"KEY\"]', value: VALUE} matches a label, "
        "componentInstanceSelector: {idPath: '.metadata.labels[\"KEY\"]'} reads one; "
        "a reference has list: {matchLabels: {KEY: {value: VALUE}}}",
    ),
    **dict.fromkeys(("succeeded", "complete", "done", "finished"), "this status is called completed"),
    **dict.fromkeys(("healthy", "ready", "active", "available"), "this status is called running"),
    **dict.fromkeys(("pending", "creating", "starting", "progressing"), "this status is called initializing"),
    **dict.fromkeys(("unhealthy", "error"), "the statuses are called degraded, of what still runs, and failed"),
    **dict.fromkeys(("paused", "stopped"), "this status is called suspended"),
    **dict.fromkeys(
        ("minMember", "minAvailable", "minCount"), "write scaleDefinition: {minReplicasPath: PATH} in the component"
    ),
    "referencedComponents": "it appears in older documentation only and never had an effect; remove it",
}
# Fields of a pod spec that Karta's fragments do not have.
_OTHER_PIECES = frozenset(
    (
        *("affinity", "podAntiAffinity", "tolerations", "nodeSelector", "nodeName", "topologySpreadConstraints"),
        *("initContainers", "volumes", "serviceAccountName", "serviceAccount", "imagePullSecrets", "runtimeClassName"),
        "hostNetwork",
    )
)

_FIELD_HINTS: Final = {
    "group": 'write the part of apiVersion before /, "" for core kinds: {group: "", version: v1, kind: ConfigMap}',
    "version": "write the part of apiVersion behind /, as v1",
    "nameExpression": "write the path of the name, as .spec.config, or '\"NAME\"' for one that is fixed",
    "operator": "write In, NotIn, Exists or DoesNotExist",
    "resumeActions": 'write what undoes each suspend action: [{path: .spec.suspend, value: "false"}]',
    "suspendActions": 'write [{path: .spec.suspend, value: "true"}]',
    "byPhase": "write a matcher for each phase: [{byPhase: Ready}, {byPhase: Active}]",
    "byConditions": 'write [{type: Ready, status: "True"}]',
    "type": 'write [{type: Ready, status: "True"}]',
    "ownerRef": "write the name of the component above, as ownerRef: worker",
    "byExpression": 'write {expression: .status.ready, expectedResult: "true"}',
    "expectedResult": 'write the result as text, as expectedResult: "true"',
    "statusMappings": "write a list of matchers below each status, as running: [{byPhase: Running}]",
}


@dataclass(frozen=True, slots=True)
class Misfit:
    """A part that does not fit: its path, its value, the type of its place, and the object that has it."""

    path: Path
    value: JSON
    annotation: Any = str
    around: JSON = None

    @property
    def name(self) -> str:
        """The name of the field, or the index of the entry."""
        return str(self.path[-1])

    @property
    def written(self) -> str:
        """The field in its right shape, with the value that it has."""
        return f"write {self.name}: {shape(self.annotation, self.value, self.name)}"


def missing_hint(misfit: Misfit) -> str:
    """Return the hint for a required field that is absent."""
    around = misfit.around if isinstance(misfit.around, dict) else {}
    if misfit.name == "version" and "/" in str(around.get("group")):
        return _TYPE_META
    return INDENT if misfit.name in around else _FIELD_HINTS.get(misfit.name, misfit.written)


def wrong_type(misfit: Misfit, expected: str) -> Finding:
    """Return the finding for a value of another type than expected, such as "an object"."""
    got = type_name(misfit.value)
    is_text_of_list = expected == "a list" and got != "an object"
    hint = _by_value(misfit, expected) or ("" if is_text_of_list else BY_TYPES.get((expected, got), ""))
    if misfit.name == "status" and isinstance(misfit.value, bool):
        hint = f'write "{misfit.value}"'
    if expected in ("an object", "a list") and not hint and misfit.annotation is not str:
        hint = _in_shape(misfit)
    return error("schema", misfit.path, f"must be {expected}, not {got}", hint)


def _by_value(misfit: Misfit, expected: str) -> str:
    """Return the hint for a value of another type that shows its meaning, "" for any other one."""
    path, value = misfit.path, misfit.value
    match expected, value:
        case "an object", str() if value.partition(":")[0] in _homes():
            return "write an ordinary space behind the colon of a key"
        case _, str() | list() if (
            "statusMappings" in path[:-1]
            and path[-1 - isinstance(path[-1], int)] in ("byPhase", path[path.index("statusMappings") + 1])
            and (
                entries := misfit.around if isinstance(path[-1], int) else value if isinstance(value, list) else [value]
            )
            and (texts := [text for text in entries if isinstance(text, str)])
        ):
            return "write {}: [{}]".format(
                path[path.index("statusMappings") + 1],
                ", ".join(f"{{byPhase: {shape(str, text, misfit.name)}}}" for text in texts[:2]),
            )
        case _, str() | list() | dict() if misfit.name == "ownerRef" or (
            "statusMappings" in path and (misfit.name in _FIELD_HINTS or not isinstance(value, dict))
        ):
            field = next(step for step in reversed(path) if isinstance(step, str))
            return _FIELD_HINTS.get(field, "write a list of matchers: [{byPhase: Running}]")
        case "a string", dict() if [*value.values()] == [None]:
            return json_path_hint(f"{{{next(iter(value))}}}")  # YAML reads {.status.phase} as an object
        case "a list", dict() if all(isinstance(entry, dict) for entry in value.values()):
            return f"write each key as the name of an entry: [{{name: {next(iter(value), 'NAME')}}}]"
        case "a string", [str() as text]:
            return f"write {misfit.name}: {shape(misfit.annotation, text, misfit.name)}"
    if type_name(value) == "a number" and misfit.name.endswith("Path"):
        return "write the path of the field, as .spec.replicas"
    return ""


def _in_shape(misfit: Misfit) -> str:
    value, version = misfit.value, edit.get(misfit.around, ("apiVersion",))
    if misfit.name == "kind" and isinstance(value, str) and version:
        value = f"{version}/{value}"
    name = "" if isinstance(misfit.path[-1], int) else f"{misfit.name}: "
    return f"write {name}{shape(misfit.annotation, value, misfit.name)}"


def unknown_field(misfit: Misfit, types: Mapping[str, Any]) -> Finding:
    """Return the finding for an unknown field: an error if it hides an intended value, else it is only ignored.

    ``types`` are those of the fields that exist there.
    """
    field, path = misfit.name, misfit.path
    message = f"there is no field {field}"
    if "fragmentedPodSpecDefinition" in path and (piece := field.removesuffix("Path")) in _OTHER_PIECES:
        pod_spec = f"{{containers: [{{image: .spec.image, resources: .spec.resources}}], {piece}: .spec.{piece}}}"
        hint = f"write podSpecPath: '{pod_spec}' instead of fragmentedPodSpecDefinition"
        return error("unknown-field", path, f"{message}: fragments cannot have {piece}", hint)
    if field in _GHOSTS:
        # A later release may have another status, or a minimum here.
        severity = warning if field == "referencedComponents" or {"statusMappings", "podGroup"} & {*path} else error
        return severity("unknown-field", path, message, _GHOSTS[field])
    if hint := _intended(misfit, types):
        return error("unknown-field", path, message, hint)
    return warning("unknown-field", path, f"{message}; it has no effect", _other_way(misfit, types))


def _intended(misfit: Misfit, types: Mapping[str, Any]) -> str:
    """Return the hint for a field that is another one by its letters, or that belongs elsewhere, "" for any other."""
    field = misfit.name
    if field == "apiVersion":
        kind = f"{misfit.value}/{edit.get(misfit.around, ('kind',)) or 'KIND'}"
        return f"write {shape(GroupVersionKind, kind, field)}"
    longer = [name for name in types if name.startswith(field) and name[len(field) :][:1].isupper()]
    all_homes, similar = [*_homes().get(field, ())], closest(field, types) or (longer[0] if len(longer) == 1 else "")
    homes = [home for home in all_homes if home in types] or ([] if similar in longer else all_homes)
    if homes:
        hint = f"it belongs in {' or '.join(homes[:3])}: is it indented too little, or too much?"
        return f"did you mean {similar}? else {hint}" if similar and types.keys().isdisjoint(homes) else hint
    if not field.isprintable():
        return "a part of it is not seen, as a no-break space is: write it again"
    return _instead(similar, types[similar], misfit.value) if similar else ""


def _other_way(misfit: Misfit, types: Mapping[str, Any]) -> str:
    """Return how the meaning of an unknown field is written, else the fields that exist."""
    field, path, value = misfit.name, misfit.path, misfit.value
    if path[-2:-1] == ("statusMappings",):
        return f"write a phase below its status: running: [{{byPhase: {field}}}]"
    if path[-3:-2] == ("byConditions",) and str(value) in ("True", "False", "Unknown"):
        return f'write {{type: {field}, status: "{value}"}}'
    if field.startswith(PREFIX):
        return "write it below metadata.annotations"
    if "podSelector" in path and "/" in field:
        return f"write componentTypeSelector: {{matchLabels: {{{field}: {value}}}}}"
    for name, annotation in types.items():
        if _SAME_WORD.fullmatch(f"{field} {name}"):
            return _instead(name, annotation, value)
        for part, part_type in types_of(annotation).items():
            if _SAME_WORD.fullmatch(f"{field} {part}"):
                return f"write {name}: {{{part}: {shape(part_type, value, part)}}}"
    return f"remove it; there are: {', '.join(types)}"


@cache
def _homes() -> Mapping[str, Mapping[str, None]]:
    """Return the fields of metadata and of all parts of a spec, each with the names of its parts, in order."""
    homes: dict[str, dict[str, None]] = {name: {"metadata": None} for name in ("name", "labels", "annotations")}
    models: list[tuple[str, type[Schema]]] = [("spec", Spec)]
    for name, model in models:  # `models` grows meanwhile
        for field in model.model_fields.values():
            homes.setdefault(str(field.alias), {})[name] = None
            models += [(str(field.alias), below) for below in _schemas(field.annotation)]
    return homes


def type_at(path: Path) -> Any:  # noqa: ANN401 - as in `_schemas`
    """Return the type of the part at a path of a spec."""
    annotation: Any = Spec
    for step in path:
        is_entry = get_origin(annotation) in (tuple, dict)
        annotation = next(_schemas(annotation), str) if is_entry else types_of(annotation)[str(step)]
    return annotation


def types_of(annotation: Any) -> dict[str, Any]:  # noqa: ANN401 - as in `_schemas`
    """Return the types of the fields of a part, or of the entries of a list."""
    return {
        str(field.alias): field.annotation for schema in _schemas(annotation) for field in schema.model_fields.values()
    }


def _instead(name: str, annotation: Any, value: JSON) -> str:  # noqa: ANN401 - as in `_schemas`
    return (
        f"write {name}: {shape(annotation, value, name)}"
        if isinstance(value, str) and types_of(annotation)
        else f"did you mean {name}?"
    )


def shape(annotation: Any, value: JSON, name: str) -> str:  # noqa: ANN401 - as in `_schemas`
    """Show how a field is written: with the text where it fits, and words in capitals for missing parts.

    >>> shape(type_at(("structureDefinition", "rootComponent", "scaleDefinition")), ".spec.size", "scaleDefinition")
    '{replicasPath: .spec.size}'
    """
    schema, types, text = (
        next(_schemas(annotation), None),
        types_of(annotation),
        value if isinstance(value, str) else "",
    )
    if get_origin(annotation) is tuple:
        entries = (shape(schema or str, entry, name) for entry in (value if isinstance(value, list) else [value])[:2])
        return f"[{', '.join(entries)}]"
    if get_origin(annotation) is dict:
        key, equals, content = text.partition("=")  # as labels are given to kubectl
        return f"{{{key if equals else 'KEY'}: {shape(schema or str, content if equals else value, 'value')}}}"
    if schema is None:
        if 0 < len(text) <= _LONGEST_TEXT and (text[0] == "." or not name.endswith(("ath", "xpression"))):
            return text if _PLAIN.fullmatch(text) else f"'{text}'"
        return re.split("(?=[A-Z])", name)[-1].upper()
    if schema is GroupVersionKind:
        *steps, kind = (text or "GROUP/VERSION/KIND").split("/")[-3:]
        return "{{group: {}, version: {}, kind: {}}}".format(*['""', "VERSION"][: 2 - len(steps)], *steps, kind)
    chosen = "expression" if text[:1] == "." and "expression" in types else next(map(_FIRST.get, types, types))
    names = dict.fromkeys(
        [chosen, *(str(field.alias) for field in schema.model_fields.values() if field.is_required())]
    )
    return f"{{{', '.join(f'{name}: {shape(types[name], name == chosen and value, name)}' for name in names)}}}"


def _schemas(annotation: Any) -> Iterator[type[Schema]]:  # noqa: ANN401 - annotations have no type of their own
    if isinstance(annotation, type) and issubclass(annotation, Schema):
        yield annotation
    for argument in get_args(annotation):
        yield from _schemas(argument)
