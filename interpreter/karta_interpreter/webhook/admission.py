"""Kubernetes admission of Kartas: what may be stored on the API server.

The ``AdmissionReview`` (``admission.k8s.io/v1``) is read, the object in it is judged, and the answer is written.
`karta_interpreter.definitions.karta` decides whether a definition is right. HTTP is in
`karta_interpreter.webhook.http`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Literal, TypeAlias

import msgspec
import orjson
from msgspec import Struct

from karta_interpreter.base.errors import RequestError
from karta_interpreter.base.findings import DefinitionError, Finding, Severity, count, error, errors_first, format_path
from karta_interpreter.base.k8s import GVK, JSON, NewObject, Object, Path, edit
from karta_interpreter.definitions.karta import PREFIX, ROOT_KIND, is_kind_of_definitions, kinds_of, name_of
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.webhook.wire.request import KIND, parsed

KindNames: TypeAlias = Mapping[GVK, str]
"""The kinds that the cluster's Kartas define, each with the name of its Karta."""

_VERSION = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
# Not 403, 409 or AlreadyExists: clients try those again, or take them for success.
_INVALID = {"status": "Failure", "reason": "Invalid", "code": 422}


class _Kind(msgspec.Struct, frozen=True):
    kind: str
    group: str = ""


class Review(msgspec.Struct, frozen=True):
    """A request to store an object of a ``kind``."""

    uid: Annotated[str, msgspec.Meta(min_length=1)]
    operation: Literal["CREATE", "UPDATE", "DELETE", "CONNECT"]
    kind: _Kind
    subresource: str = msgspec.field(default="", name="subResource")
    object: NewObject | None = None
    """None for a deletion."""
    old: NewObject | None = msgspec.field(default=None, name="oldObject")
    """The stored object, None for a creation."""


class _Body(msgspec.Struct):
    request: Review
    kind: Literal["AdmissionReview"]
    api_version: Literal["admission.k8s.io/v1"] = msgspec.field(name="apiVersion")


def read(body: bytes) -> Review:
    """Read a review. Raises RequestError for any other body, which the API server counts as a failed webhook.

    >>> read(b'{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}')
    Traceback (most recent call last):
    karta_interpreter.base.errors.RequestError: the body is not an AdmissionReview of admissionReviewVersions [v1]: Object missing required field `request`
    """  # noqa: E501 - an error is one line
    value = parsed(body)
    try:
        return msgspec.convert(value, _Body).request
    except msgspec.ValidationError as error:
        hint = f"; /interpret takes a {KIND}" * (edit.get(value, ("kind",)) == KIND)
        raise RequestError(
            f"the body is not an AdmissionReview of admissionReviewVersions [v1]: {error}{hint}"
        ) from error


def allow(uid: str, *, warnings: tuple[str, ...] = ()) -> bytes:
    """Return the answer that allows the request."""
    return _encode({"uid": uid, "allowed": True}, warnings)


def refuse(uid: str, message: str, *, warnings: tuple[str, ...] = ()) -> bytes:
    """Return the answer that denies the request, with the reason for the user."""
    return _encode({"uid": uid, "allowed": False, "status": {**_INVALID, "message": message}}, warnings)


def _encode(response: Object, warnings: tuple[str, ...]) -> bytes:
    return orjson.dumps({**_VERSION, "response": {**response, **({"warnings": warnings} if warnings else {})}})


_MAX_WARNING = 120
"""Characters that Kubernetes recommends for a warning (``k8s.io/api/admission/v1``)."""
_MAX_WARNINGS = 30
"""Their sum stays below the 4096 characters that an API server passes on."""
_MAX_MESSAGE = 32_768
"""The limit for the message of a condition (``metav1.Condition``). The status of a Karta has the reason in one."""


def refusal(kind: str, name: str, findings: Iterable[Finding]) -> str:
    """Return why an object is not stored: a summary line, and one line for each error.

    If the message would be too long for an answer, it names as many errors as fit.
    """
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    lines = [f'{kind} "{name}" cannot be used: {count(len(errors), "error")}']
    length = len(lines[0])
    for number, finding in enumerate(errors):
        hint = f" ({finding.hint})" if finding.hint else ""
        line = f"  {_one_line(_placed(finding.path, f'{finding.message}{hint} [{finding.rule}]'))}"
        length += len(line) + 1
        if length > _MAX_MESSAGE:
            return "\n".join([*lines, f"  and {len(errors) - number} more; karta-interpreter validate shows them all"])
        lines.append(line)
    return "\n".join(lines)


def warnings_of(findings: Sequence[Finding]) -> tuple[str, ...]:
    """Return the findings as warnings, each on one line and no longer than Kubernetes recommends."""
    shown = []
    for finding in errors_first(findings)[:_MAX_WARNINGS]:
        path, message = finding.path, _one_line(finding.message)
        # Shortened until it fits: first without its hint, then without the outer part of its path, then in words.
        lines = [_placed(path, f"{message} ({_one_line(finding.hint)})")] if finding.hint else []
        lines.append(_placed(path, message))
        lines += [f"…{_placed(path[start:], message)}" for start in range(1, len(path)) if isinstance(path[start], str)]
        cut = lines[-1][: _MAX_WARNING - 1]  # room for the ellipsis
        shown.append(next((line for line in lines if len(line) <= _MAX_WARNING), f"{cut.rpartition(' ')[0] or cut}…"))
    if len(findings) <= _MAX_WARNINGS:
        return tuple(shown)
    return (*shown, f"{len(findings) - _MAX_WARNINGS} more warnings; karta-interpreter validate shows them all")


def _placed(path: Path, text: str) -> str:
    return f"{format_path(path)}: {text}" if path else text


def _one_line(text: str) -> str:
    """Return the text on one line and without half surrogate pairs, which UTF-8 cannot encode."""
    return " ".join(text.split()).encode(errors="replace").decode()


class Subject(Struct, frozen=True):
    """The object of a review, for an answer without a judgement. ``is_settled``: a denial corrects nothing."""

    uid: str
    name: str
    is_settled: bool


def subject(review: Review) -> Subject:
    """Return the subject of a review."""
    obj = _stored(review)
    return Subject(
        review.uid, f'{review.kind.kind} "{name_of(obj or {})}"', is_settled=obj is None or _settled(review, obj)
    )


def unjudged(subject: Subject, reason: str) -> bytes:
    """Answer a review that cannot be judged: deny it, or warn if a denial could not correct anything.

    A denial reaches the author of the object with any ``failurePolicy`` of the webhook.
    """
    message = f"{subject.name} cannot be judged: {reason}"
    return allow(subject.uid, warnings=(message,)) if subject.is_settled else refuse(subject.uid, message)


def validate(review: Review, existing_kinds: KindNames) -> bytes:
    """Answer a validating review: deny an object that has errors, with all of them, and pass warnings on.

    ``existing_kinds`` maps each kind to the name of the Karta on the API server that defines it. A second definition of
    a kind is denied as well.

    An object is allowed if it is being deleted or if its errors were stored before: its finalizers and labels have to
    remain editable.
    """
    obj = _stored(review)
    if obj is None:
        strange = (
            f"{review.kind.kind} is not a Karta: take it out of the rules of karta-interpreter's admission webhook"
        )
        return allow(
            review.uid, warnings=() if is_kind_of_definitions(review.kind.group, review.kind.kind) else (strange,)
        )
    try:
        findings = load_definition(obj).findings
    except DefinitionError as err:
        findings = err.findings
    # Loaded here: the same processes answer calls, which need none of it.
    from karta_interpreter.definitions.openapi.check import object_contradictions  # noqa: PLC0415 - see above

    findings = (*findings, *object_contradictions(obj), *_second(obj, existing_kinds))
    if not any(finding.severity is Severity.ERROR for finding in findings) or _settled(review, obj):
        return allow(review.uid, warnings=warnings_of(findings))
    # A denial has the errors in its message. Only the other findings are warnings.
    lint = [finding for finding in findings if finding.severity is Severity.WARNING]
    return refuse(review.uid, refusal(review.kind.kind, name_of(obj), findings), warnings=warnings_of(lint))


def _stored(review: Review) -> Object | None:
    stored = review.operation in ("CREATE", "UPDATE") and not review.subresource
    return review.object if stored and is_kind_of_definitions(review.kind.group, review.kind.kind) else None


def _second(obj: Object, existing_kinds: KindNames) -> tuple[Finding, ...]:
    name = name_of(obj)
    others = {gvk: existing_kinds.get(gvk, name) for gvk in kinds_of(obj)}
    return tuple(
        error(
            "duplicate-kind",
            ROOT_KIND,
            f"{gvk} has a definition already: {other}",
            f"change {other}, or delete it first",
        )
        for gvk, other in others.items()
        if other != name
    )


def _settled(review: Review, obj: Object) -> bool:
    """Return whether a denial could not correct anything."""
    if edit.get(obj, ("metadata", "deletionTimestamp")) is not None:
        return True
    return review.old is not None and _judged(obj) == _judged(review.old)


def _judged(obj: Object) -> tuple[JSON, NewObject]:
    """Return the parts of an object that findings are about."""
    annotations = edit.get(obj, ("metadata", "annotations"))
    ours = annotations if isinstance(annotations, dict) else {}
    return obj.get("spec"), {key: text for key, text in ours.items() if key.startswith(PREFIX)}
