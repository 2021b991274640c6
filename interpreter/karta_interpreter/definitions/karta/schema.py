"""From a JSON object to a Karta: the forms that are read, and findings for parts that do not fit the schema."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final, get_args, get_origin

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from karta_interpreter.base.findings import BY_TYPES, PLACES, Finding, closest, error, escaped, warning
from karta_interpreter.base.k8s import JSON, Object, Path, edit, type_name
from karta_interpreter.definitions.karta.annotations import PREFIX
from karta_interpreter.definitions.karta.identity import (
    KARTA,
    RESOURCE_INTERFACE,
    STRUCTURE,
    is_definition,
    name_of,
)
from karta_interpreter.definitions.karta.model import KartaResource, Spec
from karta_interpreter.definitions.karta.schema_types import LABEL, LONGEST_LABEL, LONGEST_NAME, NAME, Schema
from karta_interpreter.definitions.karta.status_rules import MEANINGS

_OBJECT_FIELDS = ("apiVersion", "kind", "metadata", "spec", "status")
_METADATA_FIELDS = (
    *("name", "namespace", "labels", "annotations", "generateName", "generation", "uid", "resourceVersion"),
    *("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "finalizers", "ownerReferences"),
    *("managedFields", "selfLink", "clusterName"),
)
_SPEC = ("spec",)

# What CEL reads: the object or a variable, by its name. jq has no names for them.
_CEL = re.compile(r"\b(object|variables)[.\[]")

# What an object is by its kind, or by a field that it has instead of a spec. `PLACES` fill in how it is given.
OTHER_FILES: Final = {
    "CustomResourceDefinition": (
        "this is a CustomResourceDefinition, not a Karta",
        "it is given {crd}, and `create karta --crd FILE` drafts a Karta from it",
    ),
    "ResourceInterpreterWebhookConfiguration": (
        "this is a ResourceInterpreterWebhookConfiguration of Karmada, not a Karta",
        "`export webhook-configuration` prints one for definitions, and `doctor` checks those of a control plane",
    ),
    "operation": ("this is a case of a suite", "{suite}"),
    "clusterName": ("this is the status of a member", "interpret takes it with --status-file"),
    "format": ("this is a file of the folder that `verify --save` wrote", "`verify FOLDER` reads it"),
}
_EXPECTED = {
    "string_type": "a string",
    "bool_type": "a boolean",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}


def read_karta(value: JSON) -> tuple[KartaResource | None, list[Finding]]:
    """Parse a JSON object as a Karta. Return it with the findings.

    Reads Kartas of version v1alpha1 of any API group, `optimization.nvidia.com/v1alpha1` ResourceInterface, and a bare
    ``{spec: ...}`` without apiVersion and kind. The Karta is None if there is an error.
    """
    if isinstance(value, list) and value and all(isinstance(item, dict) and "clusterName" in item for item in value):
        return None, [error("not-a-karta", (), *_other_object(value[0]))]
    if not isinstance(value, dict):
        return None, [error("schema", (), f"a Karta is an object, not {type_name(value)}", "give the text of its file")]
    type_meta = (value.get("apiVersion"), value.get("kind"))
    if not is_definition(value) and not (type_meta == (None, None) and "spec" in value):
        return None, [error("not-a-karta", (), *_other_object(value))]
    findings = [_unknown_field((field,), _OBJECT_FIELDS) for field in value if field not in _OBJECT_FIELDS]
    findings += _metadata_findings(value.get("metadata"), needs_name=type_meta != (None, None))
    spec, more = _read_spec(value.get("spec"))
    findings += more
    if spec is None:
        return None, findings
    annotations = edit.get(value, ("metadata", "annotations"))
    texts = annotations.items() if isinstance(annotations, dict) else ()
    readable = {key: text for key, text in texts if isinstance(text, str)}
    return KartaResource(name=name_of(value), annotations=readable, spec=spec), findings


def other_file(value: Object) -> str:
    """Return what another file is, and how it is given, by its kind or a field instead of a spec. "" if unknown."""
    return ": ".join(_other_file(value) or ())


def _other_file(value: Object) -> tuple[str, str] | None:
    marks = (str(value.get("apiVersion")), str(value.get("kind")), *(value if "spec" not in value else ()))
    for mark in filter(OTHER_FILES.get, marks):
        what, how = OTHER_FILES[mark]
        return what, how.format_map(PLACES)
    return None


def _other_object(value: Object) -> tuple[str, str]:
    """Return message and hint for an object that is not a definition."""
    kind = value.get("kind")
    named = ", ".join(f"{field} {value[field]}" for field in ("apiVersion", "kind") if value.get(field))
    if what := _other_file(value):
        return what
    if kind in (None, KARTA[1], RESOURCE_INTERFACE[1]) or edit.get(value, STRUCTURE) is not None:
        message = f"{named or 'an object without apiVersion and kind'} is not a definition this version reads"
        if _CEL.search(str(edit.get(value, _SPEC))):
            return f"{message}: {_IN_CEL}", _READ
        return message, "write apiVersion: run.ai/v1alpha1 and kind: Karta"
    if near := closest(str(kind), (KARTA[1], RESOURCE_INTERFACE[1], "ResourceInterpreterCustomization")):
        return f"{kind} is not a kind of definition or customization", f"did you mean {near}?"
    return (
        f"this is an object, not a Karta: {named}",
        f"give its Karta instead, and this {PLACES['object']}",
    )


def _metadata_findings(metadata: JSON, *, needs_name: bool) -> Iterator[Finding]:
    metadata = {} if metadata is None else metadata
    if not isinstance(metadata, dict):
        yield _wrong_type(("metadata",), "an object", metadata)
        return
    for field in metadata:
        if field not in _METADATA_FIELDS:
            yield _unknown_field(("metadata", field), _METADATA_FIELDS)
    name = metadata.get("name")
    if not isinstance(name, str | None):
        yield _wrong_type(("metadata", "name"), "a string", name)
    elif name and not (len(name) <= LONGEST_NAME and re.fullmatch(NAME, name)):
        message = f'"{escaped(name[:LONGEST_NAME])}" is not a name that Kubernetes accepts'
        yield error("schema", ("metadata", "name"), message, "write lower-case letters, digits, - and .")
    if needs_name and not (name or metadata.get("generateName")):
        message = "the Karta has no name, and is called after its root component here"
        yield warning("name-missing", ("metadata", "name"), message, "add metadata.name: an API server requires it")
    for field in ("labels", "annotations"):
        yield from _text_findings(("metadata", field), metadata.get(field) or {})


def _text_findings(path: Path, texts: JSON) -> Iterator[Finding]:
    if not isinstance(texts, dict):
        yield _wrong_type(path, "an object", texts)
        return
    for key, text in texts.items():
        if path[-1] == "labels" and key.startswith(PREFIX):
            message = f"{key} is the name of an annotation: a label has no effect"
            yield error("unknown-annotation", (*path, key), message, "write it below metadata.annotations")
        elif not isinstance(text, str):
            yield _wrong_type((*path, key), "a string", text)
        elif path[-1] == "labels" and not (_is_label(key.rpartition("/")[2]) and (not text or _is_label(text))):
            yield error("schema", (*path, key), "an API server refuses this label", "write letters, digits, -, _ and .")


def _is_label(text: str) -> bool:
    return 0 < len(text) <= LONGEST_LABEL and re.fullmatch(LABEL, text) is not None


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
    findings += [_finding(detail, raw) for detail in details]
    unknown = [detail["loc"] for detail in details if detail["type"] == "extra_forbidden"]
    if len(unknown) < len(details):
        return None, findings
    # pydantic gives no model with errors. API servers drop unknown fields, so the rest is still checked. It may lack
    # what an unknown field was written for.
    for path in unknown:
        raw = edit.remove(raw, path)
    spec, more = _read_spec(raw)
    return spec, findings + more


_IN_CEL: Final = "Kartas in CEL are not read: they are a proposal of upstream (workload-map #330), and in no release"
_READ: Final = f"write the expressions in jq, in apiVersion: {KARTA[0]}"


def _cel(*field: str | int) -> Finding:
    return error("expression-language", (*_SPEC, *field), _IN_CEL, _READ)


def _is_in_cel(detail: ErrorDetails) -> bool:
    """Return whether an unknown field is one of the proposal: a place to write to, or an expression that CEL reads."""
    field, value = next(reversed(detail["loc"]), ""), detail["input"]
    has_expressions = field in {"variables", "expression", "groupByExpressions"} or "'expression'" in str(value)
    is_proposed = field == "pathWrite" or (has_expressions and _CEL.search(str(value)) is not None)
    return detail["type"] == "extra_forbidden" and is_proposed


_INDENT: Final = "write its fields below its name, indented"


def _finding(detail: ErrorDetails, raw: JSON) -> Finding:
    kind, path = detail["type"], (*_SPEC, *detail["loc"])
    if kind == "extra_forbidden":
        return _unknown_field(path, _fields_at(detail["loc"][:-1]))
    if kind in _EXPECTED:
        return _wrong_type(path, _EXPECTED[kind], detail["input"])
    around = edit.get(raw, detail["loc"][:-1])
    is_empty = kind == "missing" and isinstance(around, dict) and detail["loc"][-1] in around
    return error("schema", path, message_of(detail), _INDENT if is_empty else "")


def _wrong_type(path: Path, expected: str, value: JSON) -> Finding:
    got = type_name(value)
    return error("schema", path, f"must be {expected}, not {got}", BY_TYPES.get((expected, got), ""))


def _unknown_field(path: Path, known: Iterable[str]) -> Finding:
    """Return the finding for an unknown field: an error if it hides a value of another field, else it is ignored."""
    field, known = str(path[-1]), list(known)
    message = f"there is no field {field}"
    status = MEANINGS.get(field.lower())
    if meant := status if status in known else closest(field, known):
        return error("unknown-field", path, message, f"did you mean {meant}?")
    if owners := _owners().get(field):
        return error("unknown-field", path, message, f"it is a field of {' and '.join(owners)}")
    return warning("unknown-field", path, f"{message}; it has no effect", f"there are: {', '.join(known)}")


@cache
def _owners() -> Mapping[str, list[str]]:
    """Return the fields of all parts of a Karta, each with the names of these parts."""
    owners: dict[str, list[str]] = {"name": ["metadata"], "labels": ["metadata"], "annotations": ["metadata"]}
    parts: list[tuple[str, type[Schema]]] = [("spec", Spec)]
    for part, schema in parts:  # `parts` grows meanwhile
        for field in schema.model_fields.values():
            name = str(field.alias)
            names = owners.setdefault(name, [])
            if part not in names:
                names.append(part)
            parts += [(name, below) for below in _schemas(field.annotation)]
    return owners


def _fields_at(path: Path) -> list[str]:
    """Return the names of the fields of the part at a path of a spec."""
    annotation: Any = Spec
    for step in path:
        if get_origin(annotation) in (tuple, dict):
            annotation = next(_schemas(annotation), str)
            continue
        fields = [field for schema in _schemas(annotation) for field in schema.model_fields.values()]
        annotation = next(field.annotation for field in fields if field.alias == step)
    return [str(field.alias) for schema in _schemas(annotation) for field in schema.model_fields.values()]


def _schemas(annotation: Any) -> Iterator[type[Schema]]:  # noqa: ANN401 - annotations have no type of their own
    if isinstance(annotation, type) and issubclass(annotation, Schema):
        yield annotation
    for argument in get_args(annotation):
        yield from _schemas(argument)


def message_of(detail: ErrorDetails) -> str:
    """Word a pydantic error like a finding: an unknown field, a missing field, or a wrong type."""
    kind, field = detail["type"], detail["loc"][-1] if detail["loc"] else ""
    if kind in _EXPECTED:
        return f"must be {_EXPECTED[kind]}, not {type_name(detail['input'])}"
    messages = {
        "extra_forbidden": f"there is no field {field}",
        "missing": f"the field {field} is missing",
        "too_short": "needs at least one entry",
        "string_too_short": "must not be empty",
        "value_error": str(detail.get("ctx", {}).get("error")),
        "too_long": f"has more than {detail.get('ctx', {}).get('max_length')} entries",
    }
    return messages.get(kind, detail["msg"])
