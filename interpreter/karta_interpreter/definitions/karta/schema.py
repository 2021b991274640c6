"""From a JSON object to a Karta: the forms that are read, and findings for parts that do not fit the schema."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from karta_interpreter.base.findings import PLACES, Finding, Severity, closest, error, escaped, warning
from karta_interpreter.base.k8s import JSON, Object, Path, edit, type_name
from karta_interpreter.definitions.karta.annotations import PREFIX
from karta_interpreter.definitions.karta.identity import (
    KARTA,
    RESOURCE_INTERFACE,
    ROOT_STATUS,
    STRUCTURE,
    is_definition,
    name_of,
)
from karta_interpreter.definitions.karta.model import KartaResource, Spec
from karta_interpreter.definitions.karta.schema_hints import (
    INDENT,
    Misfit,
    missing_hint,
    type_at,
    types_of,
    unknown_field,
    wrong_type,
)

_OBJECT_FIELDS = ("apiVersion", "kind", "metadata", "spec", "status")
_METADATA_FIELDS = (
    *("name", "namespace", "labels", "annotations", "generateName", "generation", "uid", "resourceVersion"),
    *("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "finalizers", "ownerReferences"),
    *("managedFields", "selfLink", "clusterName"),
)
_SPEC = ("spec",)

# The value of a label, and its name behind the prefix.
_LABEL = re.compile(r"([A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?)?", re.ASCII)
# A DNS-1123 subdomain, as required of ``metadata.name`` of a custom resource.
_NAME = re.compile(r"(?!.{254})[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")

_LONGEST_NAME = 253
_NAME_HINT = (
    f"write at most {_LONGEST_NAME} lower-case letters, digits, - and . that begin and end with a letter or a digit"
)

# What CEL reads: the object or a variable, by its name. jq has no names for them.
_CEL = re.compile(r"\b(object|variables)[.\[]")

# What an object is by its kind, or by a field that it has instead of a spec. `PLACES` fill in how it is given.
OTHER_FILES: Final = {
    "CustomResourceDefinition": "a CustomResourceDefinition, not a Karta: "
    "it is given {crd}, and `create karta --crd FILE` drafts a Karta from it",
    "ConfigMap": "a ConfigMap, not a Karta: give a Karta in its data as a file of its own",
    "operation": "a case of a suite: {suite}",
    "format": "a file of the folder that `verify --save` wrote: `verify FOLDER` reads it",
    "tests": "a list of tests of an older Karmada, which names no answers: leave it out, "
    "and `create suite --object FILE` drafts cases from its objects",
    **dict.fromkeys(
        ("replicaCount", "image", "nameOverride", "fullnameOverride"),
        "a file of values for Helm: give what `helm template` prints",
    ),
    **dict.fromkeys(
        ("kustomize.config.k8s.io/v1beta1", "resources", "patches", "components", "namePrefix"),
        "a kustomization: give what `kubectl kustomize` prints",
    ),
    "op": "a patch: give what `kubectl kustomize` prints",
    "version": "a chart of Helm: give what `helm template` prints",
    "clusters": "a kubeconfig: it is given {kubeconfig}",
    "openapi": "a description of an API: `kubectl get crd NAME -o yaml` prints a CRD",
    "$schema": "a schema, not an object",
    "code": "an error of an API server",
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
    if not isinstance(value, dict):
        hint = (
            "write one object, without a dash"
            if isinstance(value, list)
            else "a script stands below luaScript of a ResourceInterpreterCustomization"
            if re.search(r"\b(function|return)\b", str(value))
            else "give the text of its file"
        )
        return None, [error("schema", (), f"a Karta is an object, not {type_name(value)}", hint)]
    type_meta = (value.get("apiVersion"), value.get("kind"))
    if not is_definition(value) and not (type_meta == (None, None) and "spec" in value):
        return None, [error("not-a-karta", (), *_other_object(value))]
    findings = [
        unknown_field(Misfit((field,), value[field]), dict.fromkeys(_OBJECT_FIELDS))
        for field in value
        if field not in _OBJECT_FIELDS
    ]
    findings += _metadata_findings(value.get("metadata"), needs_name=type_meta != (None, None))
    spec, more = _read_spec(value.get("spec"))
    mappings = edit.get(value, (*ROOT_STATUS, "statusMappings"))
    findings += more + [
        warning(
            "status-mappings-empty",
            (*ROOT_STATUS, "statusMappings", name),
            "no status is ever matched",
            "add a matcher, or remove it",
        )
        for name, matchers in (mappings.items() if isinstance(mappings, dict) else ())
        if not matchers
    ]
    if spec is None:
        return None, findings
    annotations = edit.get(value, ("metadata", "annotations"))
    texts = annotations.items() if isinstance(annotations, dict) else ()
    readable = {key: text for key, text in texts if isinstance(text, str)}
    return KartaResource(name=name_of(value), annotations=readable, spec=spec), findings


def other_file(value: Object) -> str:
    """Return the name of another file, and how it is given, by its kind or a field instead of a spec. "" if unknown."""
    found = filter(
        OTHER_FILES.get, (str(value.get("apiVersion")), str(value.get("kind")), *(value if "spec" not in value else ()))
    )
    return next((f"this is {OTHER_FILES[mark]}".format_map(PLACES) for mark in found), "")


def _other_object(value: Object) -> tuple[str, str]:
    """Return message and hint for an object that is not a definition."""
    kind = value.get("kind")
    named = ", ".join(f"{field} {value[field]}" for field in ("apiVersion", "kind") if value.get(field))
    if what := other_file(value):
        return what.partition(": ")[::2]
    if kind in (None, KARTA[1], RESOURCE_INTERFACE[1]) or edit.get(value, STRUCTURE) is not None:
        message = f"{named or 'an object without apiVersion and kind'} is not a definition this version reads"
        return message, "write apiVersion: run.ai/v1alpha1 and kind: Karta"
    if near := closest(str(kind), (KARTA[1], RESOURCE_INTERFACE[1], "ResourceInterpreterCustomization")):
        return f"there is no kind {kind}", f"did you mean {near}?"
    return (
        f"this is an object, not a Karta: {named}",
        f"give its Karta instead, and this {PLACES['object']}",
    )


def _metadata_findings(metadata: JSON, *, needs_name: bool) -> Iterator[Finding]:
    metadata = {} if metadata is None else metadata
    if not isinstance(metadata, dict):
        yield wrong_type(Misfit(("metadata",), metadata), "an object")
        return
    yield from (
        error(
            "unknown-field",
            ("metadata", field),
            f"there is no field {field}",
            "it is no part of metadata: indent it less",
        )
        if field in (*_OBJECT_FIELDS, *types_of(Spec))
        else replace(
            unknown_field(Misfit(("metadata", field), metadata[field]), dict.fromkeys(_METADATA_FIELDS)),
            severity=Severity.WARNING,
        )
        for field in metadata
        if field not in _METADATA_FIELDS
    )
    name, labels, annotations = metadata.get("name"), metadata.get("labels") or {}, metadata.get("annotations") or {}
    if not isinstance(name, str | None):
        yield wrong_type(Misfit(("metadata", "name"), name), "a string")
    elif name and not _NAME.fullmatch(name):
        shown = escaped(name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…")
        message = f'"{shown}" is not a name that Kubernetes accepts'
        yield error("name-invalid", ("metadata", "name"), message, _NAME_HINT)
    if needs_name and not (name or metadata.get("generateName")):
        message = "the Karta has no name, and is called after its root component here"
        yield warning("name-missing", ("metadata", "name"), message, "add metadata.name: an API server requires it")
    for field, texts in (("labels", labels), ("annotations", annotations)):
        if not isinstance(texts, dict):
            yield wrong_type(Misfit(("metadata", field), texts), "an object")
            return
    yield from _label_findings(labels)
    for key, text in annotations.items():
        if not isinstance(text, str):
            path = ("metadata", "annotations", key)
            are_names = isinstance(text, list) and all(re.fullmatch(r"[\w/-]+", str(name)) for name in text)
            hint = (
                f"write {', '.join(map(str, text))}"
                if text and are_names
                else "write its value in quotes, or as a block that starts with |"
            )
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
        return None, [error("schema", _SPEC, "the field spec is missing", INDENT)]
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
    if detail["type"] == "extra_forbidden":
        return unknown_field(Misfit(path, detail["input"], around=around), types_of(type_at(detail["loc"][:-1])))
    misfit = Misfit(path, detail["input"], type_at(detail["loc"]), around)
    if detail["type"] in _EXPECTED:
        return wrong_type(misfit, _EXPECTED[detail["type"]])
    return error("schema", path, message_of(detail), missing_hint(misfit))


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
