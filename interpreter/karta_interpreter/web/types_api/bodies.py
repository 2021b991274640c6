"""Bodies of requests, which child processes read and judge: a client may send any."""

from typing import TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.findings import Finding, Severity, error
from karta_interpreter.base.k8s.gvk import GVK
from karta_interpreter.base.k8s.values import Object, json_pointer
from karta_interpreter.definitions.karta.loading import load_object
from karta_interpreter.definitions.karta.schema import gvk_of, message_of
from karta_interpreter.definitions.karta.schema_types import ROOT_KIND
from karta_interpreter.web.types_api.models import (
    MOST_ERRORS,
    ApiError,
    FindingOutput,
    Interpretation,
    Judged,
    ProblemError,
    WorkloadTypeInput,
    other_object,
)
from karta_interpreter.web.types_api.records import StoredType, names_of

_M = TypeVar("_M", bound=BaseModel)


def read(body: bytes, model: type[_M]) -> _M:
    """Read a body; raises ApiError: 400 where it is not JSON, 422 where it is another object."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as err:
        raise ApiError(400, f"the body is not JSON: {err}") from err
    try:
        return model.model_validate(value)
    except ValidationError as err:
        found = err.errors(include_url=False, include_context=False)
        errors = [
            ProblemError(
                pointer=json_pointer(each["loc"]), detail=message_of(each), rule=each["type"], severity="error"
            )
            for each in found[:MOST_ERRORS]
        ]
        detail = "the body is not as openapi.json describes it"
        raise ApiError(422, detail, errors=errors, total=len(found)) from err


def judge(body: bytes) -> bytes:
    """Judge a `WorkloadTypeInput`: a `Judged` as JSON, a line break, and the Kartas of each version to be stored."""
    asked = read(body, WorkloadTypeInput)
    kartas = [_with_name(karta) for karta in asked.resource_interfaces]
    kinds = [gvk_of(karta) for karta in kartas]
    found = [
        (index, each)
        for index, (karta, gvk) in enumerate(zip(kartas, kinds, strict=True))
        for each in (*load_object(karta, "").findings, *_other_kind(gvk, GVK(asked.group, "", asked.name)))
    ]
    found.sort(key=lambda each: each[1].severity)  # errors first
    errors = sum(each.severity is Severity.ERROR for _, each in found)
    judged = Judged(
        **asked.model_dump(exclude={"resource_interfaces"}),
        kinds=kinds,
        findings=[finding_output(*each) for each in found[:MOST_ERRORS]],
        findings_total=len(found),
        errors_total=errors,
    )
    named = () if errors else kartas
    stored = StoredType.new(asked.group, asked.name, asked.category_id, asked.priority_id, named)
    return judged.model_dump_json().encode() + b"\n" + orjson.dumps(stored.kartas)


def read_interpretation(body: bytes, group: str, kind: str) -> tuple[Interpretation, str]:
    """An object of a type, and its version; raises ApiError."""
    asked = read(body, Interpretation)
    try:
        gvk = GVK.of(asked.object)
    except InterpretationError as err:
        raise other_object("", "no-kind", str(err)) from err
    if (gvk.group, gvk.kind) != (group, kind):
        message = f"the object is {gvk}, the workload type is {kind} of {group or 'the core group'}"
        raise other_object("/kind", "other-kind", message)
    return asked, gvk.version


def finding_output(index: int, finding: Finding) -> FindingOutput:
    """A finding about the Karta at an index of a type."""
    return FindingOutput(
        severity=finding.severity.value,
        rule=finding.rule,
        pointer=json_pointer(("resourceInterfaces", index, *finding.path)),
        detail=finding.message,
        hint=finding.hint,
    )


def _other_kind(found: GVK | None, wanted: GVK) -> list[Finding]:
    return (
        [
            error(
                "other-kind",
                (*ROOT_KIND, field),
                f'the Karta defines the {field} "{has}", but the workload type is for "{given}"',
            )
            for field, given, has in (("group", wanted.group, found.group), ("kind", wanted.kind, found.kind))
            if given != has
        ]
        if found
        else []
    )


def _with_name(karta: Object) -> Object:
    """A Karta with the name that it is stored with; one without a kind keeps its own, if any."""
    gvk, metadata = gvk_of(karta), karta.get("metadata", {})
    if gvk is None or not isinstance(metadata, dict):
        return karta
    return {**karta, "metadata": {**metadata, "name": names_of(gvk)[0]}}
