"""Kubernetes admission of Kartas: what may be stored on the API server, and the labels that are stamped on it.

Here is what is decided about a Karta that a user stores; `review` has the ``AdmissionReview`` and what users read in
its answer. Whether a definition is right is decided in `karta_interpreter.karta`, and HTTP is in
`karta_interpreter.server`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from karta_interpreter.admission.review import Action, Review, allow, read, refusal, refuse, warnings_of
from karta_interpreter.errors import DefinitionError
from karta_interpreter.findings import Finding, Severity, error
from karta_interpreter.k8s import edit
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.patch import diff
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.karta.annotations import PREFIX
from karta_interpreter.karta.loading import load_definition
from karta_interpreter.karta.schema import KARTA, RESOURCE_INTERFACE, gvk_of, name_of

__all__ = ["Subject", "mutate", "read", "subject", "unjudged", "validate"]

_KINDS = frozenset((version.partition("/")[0], kind) for version, kind in (KARTA, RESOURCE_INTERFACE))
_ROOT_KIND = ("spec", "structureDefinition", "rootComponent", "kind")
_LABELS = ("metadata", "labels")
_MAX_LABEL_LENGTH = 63


@dataclass(frozen=True, slots=True)
class Subject:
    """What a review is about, as far as its answer needs it when there is no judgement.

    ``is_settled``: a denial could correct nothing.
    """

    uid: str
    name: str
    is_settled: bool


def subject(review: Review) -> Subject:
    """What a review is about."""
    obj = _stored(review)
    name = f'{review.kind} "{name_of(obj or {})}"'
    return Subject(review.uid, name, is_settled=obj is None or _settled(review, obj))


def unjudged(subject: Subject, reason: str) -> bytes:
    """Answer a review that cannot be judged: with a denial, or with a warning where a denial could correct nothing.

    A denial reaches the author of the object with any ``failurePolicy`` of the webhook.
    """
    message = f"{subject.name} cannot be judged: {reason}"
    return allow(subject.uid, warnings=(message,)) if subject.is_settled else refuse(subject.uid, message)


def validate(review: Review, taken: Mapping[GVK, str]) -> bytes:
    """Answer a validating review: an object with errors is denied with all of them, warnings are passed on.

    ``taken`` gives for each kind the name of the Karta or ResourceInterface on the API server that defines it. A
    second one is denied as well. One of the same name is not a second one, so that a ResourceInterface can be
    replaced by the Karta it becomes.

    An object that is being deleted, or whose errors were stored before, is allowed: its finalizers and labels have to
    remain editable.
    """
    obj = _stored(review)
    if obj is None:
        strange = f"{review.kind} is no Karta: take it out of the rules of karta-interpreter's admission webhook"
        return allow(review.uid, warnings=() if (review.group, review.kind) in _KINDS else (strange,))
    try:
        findings = load_definition(obj).findings
    except DefinitionError as err:
        findings = err.findings
    findings = (*findings, *_second(obj, taken))
    if not any(finding.severity is Severity.ERROR for finding in findings) or _settled(review, obj):
        return allow(review.uid, warnings=warnings_of(findings))
    lint = [finding for finding in findings if finding.severity is Severity.WARNING]
    return refuse(review.uid, refusal(review.kind, name_of(obj), findings), warnings=warnings_of(lint))


def mutate(review: Review) -> bytes:
    """Answer a mutating review: a new object gets the labels ``run.ai/karta-group``, ``-version``, ``-kind``.

    They are upstream's, so that definitions can be found by the kind that they define.
    """
    obj = _stored(review)
    if obj is None or review.action is not Action.CREATE:
        return allow(review.uid)
    labels, gvk = edit.get(obj, _LABELS), gvk_of(obj)
    if gvk is None or not isinstance(labels, dict | None):
        return allow(review.uid)
    parts = {"group": gvk.group, "version": gvk.version, "kind": gvk.kind}
    # A group may be longer than a label, and such an object could not be stored.
    ours = {f"run.ai/karta-{part}": text for part, text in parts.items() if len(text) <= _MAX_LABEL_LENGTH}
    stamped = {**(labels or {}), **ours}
    return allow(review.uid, patch=diff(obj, edit.set_value(obj, _LABELS, stamped)))


def _stored(review: Review) -> Object | None:
    """The definition that is to be stored, None when none is."""
    stored = review.action in (Action.CREATE, Action.UPDATE) and not review.subresource
    return review.object if stored and (review.group, review.kind) in _KINDS else None


def _second(obj: Object, taken: Mapping[GVK, str]) -> tuple[Finding, ...]:
    gvk = gvk_of(obj)
    other = taken.get(gvk) if gvk else None
    if other is None or other == name_of(obj):
        return ()
    message = f"{gvk} has a definition already: {other}"
    return (error("duplicate-kind", _ROOT_KIND, message, f"change {other}, or delete it first"),)


def _settled(review: Review, obj: Object) -> bool:
    """Whether a denial could correct nothing."""
    if edit.get(obj, ("metadata", "deletionTimestamp")) is not None:
        return True
    return review.old is not None and _judged(obj) == _judged(review.old)


def _judged(obj: Object) -> tuple[JSON, dict[str, JSON]]:
    """The parts of an object that findings are about."""
    annotations = edit.get(obj, ("metadata", "annotations"))
    ours = annotations if isinstance(annotations, dict) else {}
    return obj.get("spec"), {key: text for key, text in ours.items() if key.startswith(PREFIX)}
