"""From a JSON object to a Karta: the forms that are read, and findings for parts that do not fit the schema."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, get_args, get_origin

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from karta_interpreter.base.findings import Finding, closest, error, escaped, warning
from karta_interpreter.base.k8s import JSON, Object, Path, edit, type_name
from karta_interpreter.definitions.karta.annotations import PREFIX
from karta_interpreter.definitions.karta.expressions import json_path_hint
from karta_interpreter.definitions.karta.identity import (
    KARTA,
    RESOURCE_INTERFACE,
    STRUCTURE,
    is_definition,
    name_of,
)
from karta_interpreter.definitions.karta.model import GroupVersionKind, KartaResource, Spec
from karta_interpreter.definitions.karta.schema_types import Schema

_OBJECT_FIELDS = ("apiVersion", "kind", "metadata", "spec", "status")
_SPEC = ("spec",)
_INDENT = "write its fields below its name, indented"
_TYPE_META = "write {group: batch, version: v1, kind: Job}"

# The value of a label, and its name behind the prefix.
_LABEL = re.compile(r"([A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?)?", re.ASCII)
# A DNS-1123 subdomain, as required of ``metadata.name`` of a custom resource.
_NAME = re.compile(r"(?!.{254})[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")

_LONGEST_NAME = 253
# A text that needs no quotes in { }, and the field that is shown in place of the first one.
_PLAIN = re.compile(r"\.?[A-Za-z$_][-\w.$/ ]*")
_FIRST: Final = {"initializing": "running", "podGroups": "podGroup"}
_NAME_HINT = (
    f"write at most {_LONGEST_NAME} lower-case letters, digits, - and . that begin and end with a letter or a digit"
)

# What CEL reads: the object or a variable, by its name. jq has no names for them.
_CEL = re.compile(r"\b(object|variables)[.\[]")

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
# What an object is by its kind, or by a field that it has instead of a spec.
OTHER_FILES: Final = {
    "CustomResourceDefinition": "a CustomResourceDefinition, not a Karta: "
    "it is given with --crd, in the console as CRD, and `create karta --crd FILE` drafts a Karta from it",
    "ConfigMap": "a ConfigMap, not a Karta: give a Karta in its data as a file of its own",
    "operation": "a case of a suite: `test FOLDER` runs it if a folder testdata has it",
    "replicaCount": "a file of values for Helm: give what `helm template` prints",
    **dict.fromkeys(
        ("resources", "patches", "components", "namePrefix"), "a kustomization: give what `kubectl kustomize` prints"
    ),
    "version": "a chart of Helm: give what `helm template` prints",
    "clusters": "a kubeconfig: it is given with --kubeconfig",
    "openapi": "a description of an API: `kubectl get crd NAME -o yaml` prints a CRD",
    "$schema": "a schema, not an object",
    "code": "an error of an API server",
}
# Fields of a pod spec that Karta's fragments do not have.
_OTHER_PIECES = frozenset(
    (
        *("affinity", "podAntiAffinity", "tolerations", "nodeSelector", "nodeName", "topologySpreadConstraints"),
        *("initContainers", "volumes", "serviceAccountName", "serviceAccount", "imagePullSecrets", "runtimeClassName"),
        "hostNetwork",
    )
)

_EXPECTED = {
    "string_type": "a string",
    "bool_type": "a boolean",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}


_BY_TYPES: Final = {
    **dict.fromkeys((("a string", "a number"), ("a string", "a boolean")), "write it in quotes"),
    **dict.fromkeys(
        (("a string", "a list"), ("a string", "an object"), ("a string", "null")),
        "write one text, in quotes if it begins with [ or {",
    ),
    ("a list", "an object"): "write the entry after a dash, as the only one of a list",
    ("an object", "a list"): "write one object, without a dash",
    ("a boolean", "a string"): "write true or false, without quotes",
}
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


def read_karta(value: JSON) -> tuple[KartaResource | None, list[Finding]]:
    """Parse a JSON object as a Karta. Return it with the findings.

    Reads Kartas of version v1alpha1 of any API group, `optimization.nvidia.com/v1alpha1` ResourceInterface, and a bare
    ``{spec: ...}`` without apiVersion and kind. The Karta is None if there is an error.
    """
    if not isinstance(value, dict):
        got = type_name(value)
        return None, [error("schema", (), f"a Karta is an object, not {got}", _BY_TYPES.get(("an object", got), ""))]
    type_meta = (value.get("apiVersion"), value.get("kind"))
    if not is_definition(value) and not (type_meta == (None, None) and "spec" in value):
        return None, [error("not-a-karta", (), *_other_object(value))]
    findings = [
        _unknown(field, (field,), dict.fromkeys(_OBJECT_FIELDS)) for field in value if field not in _OBJECT_FIELDS
    ]
    findings += _metadata_findings(value.get("metadata"), needs_name=type_meta != (None, None))
    spec, more = _read_spec(value.get("spec"))
    findings += more
    if spec is None:
        return None, findings
    annotations = edit.get(value, ("metadata", "annotations"))
    texts = annotations.items() if isinstance(annotations, dict) else ()
    readable = {key: text for key, text in texts if isinstance(text, str)}
    return KartaResource(name=name_of(value), annotations=readable, spec=spec), findings


def _other_object(value: Object) -> tuple[str, str]:
    """Return message and hint for an object that is not a definition."""
    kind = value.get("kind")
    named = ", ".join(f"{field} {value[field]}" for field in ("apiVersion", "kind") if value.get(field))
    for mark, what in OTHER_FILES.items():
        if mark == kind or (mark in value and "spec" not in value):
            return f"this is {what}".partition(": ")[::2]
    if kind in (None, KARTA[1], RESOURCE_INTERFACE[1]) or edit.get(value, STRUCTURE) is not None:
        message = f"{named or 'an object without apiVersion and kind'} is not a definition this version reads"
        return message, "write apiVersion: run.ai/v1alpha1 and kind: Karta"
    if near := closest(str(kind), (KARTA[1], RESOURCE_INTERFACE[1], "ResourceInterpreterCustomization")):
        return f"there is no kind {kind}", f"did you mean {near}?"
    return (
        f"this is an object, not a Karta: {named}",
        "give its Karta instead, and this with `--object`; beside a Karta its place is `testdata/objects/`",
    )


def _metadata_findings(metadata: JSON, *, needs_name: bool) -> Iterator[Finding]:
    metadata = {} if metadata is None else metadata
    if not isinstance(metadata, dict):
        yield _wrong_type(("metadata",), "an object", metadata)
        return
    yield from (
        error(
            "unknown-field",
            ("metadata", field),
            f"there is no field {field}",
            "it is no part of metadata: indent it less",
        )
        for field in metadata
        if field in (*_OBJECT_FIELDS, *_types(Spec))
    )
    name, labels, annotations = metadata.get("name"), metadata.get("labels") or {}, metadata.get("annotations") or {}
    if not isinstance(name, str | None):
        yield _wrong_type(("metadata", "name"), "a string", name)
    elif name and not _NAME.fullmatch(name):
        shown = escaped(name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…")
        message = f'"{shown}" is not a name that Kubernetes accepts'
        yield error("name-invalid", ("metadata", "name"), message, _NAME_HINT)
    if needs_name and not (name or metadata.get("generateName")):
        message = "the Karta has no name, and is called after its root component here"
        yield warning("name-missing", ("metadata", "name"), message, "add metadata.name: an API server requires it")
    for field, texts in (("labels", labels), ("annotations", annotations)):
        if not isinstance(texts, dict):
            yield _wrong_type(("metadata", field), "an object", texts)
            return
    yield from _label_findings(labels)
    for key, text in annotations.items():
        if not isinstance(text, str):
            path = ("metadata", "annotations", key)
            hint = "write its value in quotes, or as a block that starts with |"
            yield error("schema", path, f"an annotation must be a string, not {type_name(text)}", hint)


def _label_findings(labels: Object) -> Iterator[Finding]:
    for key, value in labels.items():
        path = ("metadata", "labels", key)
        texts = (key.rpartition("/")[2] or None, value)
        if key.startswith(PREFIX):
            message = f"{key} is the name of an annotation: a label has no effect"
            yield error("unknown-annotation", path, message, "write it below metadata.annotations")
        elif not all(isinstance(text, str) and _LABEL.fullmatch(text) for text in texts):
            message = "an API server refuses this label: name and value are texts of at most 63 characters"
            yield error("label-invalid", path, message, "write letters, digits, -, _ and .")


def _read_spec(raw: JSON) -> tuple[Spec | None, list[Finding]]:
    if raw is None:
        return None, [error("schema", _SPEC, "the field spec is missing", _INDENT)]
    findings: list[Finding] = []
    if isinstance(raw, dict):
        language = raw.get("expressionLanguage", "jq")
        if str(language).lower() == "cel":
            return None, [_cel("expressionLanguage")]
        if language != "jq":
            message, hint = f"the expression language {language} is not supported", "write the expressions in jq"
            findings.append(error("expression-language", (*_SPEC, "expressionLanguage"), message, hint))
        raw = {key: value for key, value in raw.items() if key != "expressionLanguage"}
    try:
        return Spec.model_validate(raw), findings
    except ValidationError as err:
        # pydantic may report a list as too short only because its entries are wrong.
        errors = err.errors(include_url=False)
        details = [detail for detail in errors if detail["type"] != "too_short" or not detail["input"]]
    if in_cel := [detail["loc"] for detail in details if _is_in_cel(detail)]:
        return None, [_cel(*in_cel[0])]
    findings += [_finding(detail, edit.get(raw, detail["loc"][:-1])) for detail in details]
    unknown = [detail["loc"] for detail in details if detail["type"] == "extra_forbidden"]
    if len(unknown) < len(details):
        return None, findings
    # pydantic gives no model with errors. API servers drop unknown fields, so the rest is still checked.
    for path in unknown:
        raw = edit.remove(raw, path)
    return Spec.model_validate(raw), findings


def _cel(*field: str | int) -> Finding:
    message = "definitions in CEL are a proposal of upstream (workload-map #330), and in no release"
    return error("expression-language", (*_SPEC, *field), message, "write the expressions in jq")


def _is_in_cel(detail: ErrorDetails) -> bool:
    """Return whether an unknown field is one of the proposal: ``variables``, or an expression in place of a path."""
    value = detail["input"]
    is_proposed = detail["loc"][-1:] in {("variables",), ("expression",)} or (
        isinstance(value, dict) and "expression" in value
    )
    return detail["type"] == "extra_forbidden" and is_proposed and _CEL.search(str(value)) is not None


def _finding(detail: ErrorDetails, around: JSON) -> Finding:
    path: Path = (*_SPEC, *detail["loc"])
    kind = detail["type"]
    if kind == "extra_forbidden":
        return _unknown(str(path[-1]), path, _types(_type_at(detail["loc"][:-1])), detail["input"], around)
    if kind in _EXPECTED:
        return _wrong_type(path, _EXPECTED[kind], detail["input"], _type_at(detail["loc"]), around)
    hint = (
        _INDENT
        if kind == "missing" and isinstance(around, dict) and path[-1] in around
        else _FIELD_HINTS.get(str(path[-1]))
        or f"write {path[-1]}: {_shape(_type_at(detail['loc']), None, str(path[-1]))}"
    )
    if path[-1] == "version" and isinstance(around, dict) and "/" in str(around.get("group")):
        hint = _TYPE_META
    return error("schema", path, message_of(detail), hint)


def message_of(detail: ErrorDetails) -> str:
    """Word a pydantic error like a finding: an unknown field, a missing field, or a wrong type."""
    kind, field = detail["type"], detail["loc"][-1] if detail["loc"] else ""
    if kind in _EXPECTED:
        return f"must be {_EXPECTED[kind]}, not {type_name(detail['input'])}"
    messages = {
        "extra_forbidden": f"there is no field {field}",
        "missing": f"the field {field} is missing",
        "too_short": "needs at least one entry",
        "too_long": f"has more than {detail.get('ctx', {}).get('max_length')} entries",
    }
    return messages.get(kind, detail["msg"])


def _wrong_type(path: Path, expected: str, value: JSON, annotation: Any = str, around: JSON = None) -> Finding:  # noqa: ANN401 - as in `_schemas`
    hint = (
        "write the path of the field, as .spec.replicas"
        if type_name(value) == "a number" and str(path[-1]).endswith("Path")
        else _BY_TYPES.get((expected, type_name(value)), "")
    )
    if expected == "a string" and isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        hint = f"write {path[-1]}: {_shape(annotation, value[0], str(path[-1]))}"
    if expected == "a list" and isinstance(value, dict) and all(isinstance(entry, dict) for entry in value.values()):
        hint = f"write each key as the name of an entry: [{{name: {next(iter(value), 'NAME')}}}]"
    if expected == "a string" and isinstance(value, dict) and [*value.values()] == [None]:
        hint = json_path_hint(f"{{{next(iter(value))}}}") or hint  # YAML reads {.status.phase} as an object
    if path[-1] == "ownerRef" or (
        "statusMappings" in path
        and (isinstance(value, str | list) or (isinstance(value, dict) and path[-1] in _FIELD_HINTS))
    ):
        field = next(step for step in reversed(path) if isinstance(step, str))
        hint = _FIELD_HINTS.get(field, "write a list of matchers: [{byPhase: Running}]")
    if expected == "an object" and isinstance(value, str) and value.partition(":")[0] in _homes():
        hint = "write an ordinary space behind the colon of a key"
    if expected in ("an object", "a list") and not hint and annotation is not str:
        if path[-1] == "kind" and isinstance(value, str) and (version := edit.get(around, ("apiVersion",))):
            value = f"{version}/{value}"
        hint = f"write {'' if isinstance(path[-1], int) else f'{path[-1]}: '}{_shape(annotation, value, str(path[-1]))}"
    return error("schema", path, f"must be {expected}, not {type_name(value)}", hint)


def _unknown(field: str, path: Path, types: Mapping[str, Any], value: JSON = None, around: JSON = None) -> Finding:
    """Return the finding for an unknown field: an error if it hides an intended value, else it is only ignored.

    ``types`` are those of the fields that exist there, and ``around`` is the object that has the unknown one.
    """
    names = tuple(types)
    message = f"there is no field {field}"
    if "fragmentedPodSpecDefinition" in path and (piece := field.removesuffix("Path")) in _OTHER_PIECES:
        pod_spec = f"{{containers: [{{image: .spec.image, resources: .spec.resources}}], {piece}: .spec.{piece}}}"
        hint = f"write podSpecPath: '{pod_spec}' instead of fragmentedPodSpecDefinition"
        return error("unknown-field", path, f"{message}: fragments cannot have {piece}", hint)
    if field == "apiVersion":
        kind = f"{value}/{edit.get(around, ('kind',)) or 'KIND'}"
        return error("unknown-field", path, message, f"write {_shape(GroupVersionKind, kind, field)}")
    if field in _GHOSTS:
        # A later release may have another status, or a minimum here.
        severity = warning if field == "referencedComponents" or {"statusMappings", "podGroup"} & {*path} else error
        return severity("unknown-field", path, message, _GHOSTS[field])
    longer = [name for name in names if name.startswith(field) and name[len(field) :][:1].isupper()]
    all_homes, suggestion = [*_homes().get(field, ())], closest(field, names) or (longer[0] if len(longer) == 1 else "")
    homes = [home for home in all_homes if home in names] or ([] if suggestion in longer else all_homes)
    suggestion = "" if {*homes} & {*names} else suggestion
    if homes:
        hint = f"it belongs in {' or '.join(homes[:3])}: is it indented too little, or too much?"
        return error("unknown-field", path, message, f"did you mean {suggestion}? else {hint}" if suggestion else hint)
    if not field.isprintable():
        return error("unknown-field", path, message, "a part of it is not seen, as a no-break space is: write it again")
    if suggestion:
        return error("unknown-field", path, message, _instead(suggestion, types[suggestion], value))
    below = f"write a phase below its status: running: [{{byPhase: {field}}}]"
    instead = (
        below
        if path[-2:-1] == ("statusMappings",)
        else f'write {{type: {field}, status: "{value}"}}'
        if path[-3:-2] == ("byConditions",) and str(value) in ("True", "False", "Unknown")
        else "write it below metadata.annotations"
        if field.startswith(PREFIX)
        else f"write componentTypeSelector: {{matchLabels: {{{field}: {value}}}}}"
        if "podSelector" in path and "/" in field
        else next(
            (
                _instead(name, types[name], value)
                if _SAME_WORD.fullmatch(f"{field} {name}")
                else f"write {name}: {{{part}: {_shape(annotation, value, part)}}}"
                for name in names
                for part, annotation in {"": None, **_types(types[name])}.items()
                if _SAME_WORD.fullmatch(f"{field} {part or name}")
            ),
            f"remove it; there are: {', '.join(names)}",
        )
    )
    return warning("unknown-field", path, f"{message}; it has no effect", instead)


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


def _type_at(path: Path) -> Any:  # noqa: ANN401 - as in `_schemas`
    """Return the type of the part at a path of a spec."""
    annotation: Any = Spec
    for step in path:
        is_entry = get_origin(annotation) in (tuple, dict)
        annotation = next(_schemas(annotation), str) if is_entry else _types(annotation)[str(step)]
    return annotation


def _types(annotation: Any) -> dict[str, Any]:  # noqa: ANN401 - as in `_schemas`
    """Return the types of the fields of a part, or of the entries of a list."""
    return {
        str(field.alias): field.annotation for schema in _schemas(annotation) for field in schema.model_fields.values()
    }


def _instead(name: str, annotation: Any, value: JSON) -> str:  # noqa: ANN401 - as in `_schemas`
    return (
        f"write {name}: {_shape(annotation, value, name)}"
        if isinstance(value, str) and _types(annotation)
        else f"did you mean {name}?"
    )


def _shape(annotation: Any, value: JSON, name: str) -> str:  # noqa: ANN401 - as in `_schemas`
    """Show how a field is written: with the text where it fits, and words in capitals for missing parts.

    >>> _shape(_type_at(("structureDefinition", "rootComponent", "scaleDefinition")), ".spec.size", "scaleDefinition")
    '{replicasPath: .spec.size}'
    """
    schema, types, text = next(_schemas(annotation), None), _types(annotation), value if isinstance(value, str) else ""
    if get_origin(annotation) is tuple:
        entries = (_shape(schema or str, entry, name) for entry in (value if isinstance(value, list) else [value])[:2])
        return f"[{', '.join(entries)}]"
    if get_origin(annotation) is dict:
        return f"{{KEY: {_shape(schema or str, value, 'value')}}}"
    if schema is None:
        if 0 < len(text) < _LONGEST_NAME and (text[0] == "." or not name.endswith(("ath", "xpression"))):
            return text if _PLAIN.fullmatch(text) else f"'{text}'"
        return re.split("(?=[A-Z])", name)[-1].upper()
    if schema is GroupVersionKind:
        *steps, kind = (text or "GROUP/VERSION/KIND").split("/")[-3:]
        return "{{group: {}, version: {}, kind: {}}}".format(*['""', "VERSION"][: 2 - len(steps)], *steps, kind)
    chosen = "expression" if text[:1] == "." and "expression" in types else next(map(_FIRST.get, types, types))
    names = dict.fromkeys(
        [chosen, *(str(field.alias) for field in schema.model_fields.values() if field.is_required())]
    )
    return f"{{{', '.join(f'{name}: {_shape(types[name], name == chosen and value, name)}' for name in names)}}}"


def _schemas(annotation: Any) -> Iterator[type[Schema]]:  # noqa: ANN401 - annotations have no type of their own
    if isinstance(annotation, type) and issubclass(annotation, Schema):
        yield annotation
    for argument in get_args(annotation):
        yield from _schemas(argument)
