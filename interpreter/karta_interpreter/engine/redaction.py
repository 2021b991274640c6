"""Leaves texts out that no operation reads: of a recorded call, and of what `verify --save` writes.

Structure, numbers and booleans stay. A text stays if the Karta of its kind reads it, and so do texts that are equal to
one that stays. Any other text becomes a mark, a digest with a key that only one run of a program knows. So equal texts
stay equal, and short ones cannot be guessed.
"""

import base64
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final, NamedTuple

import orjson

from karta_interpreter.base.k8s import JSON, Projection, get
from karta_interpreter.base.k8s.secret_holders import mentions_secrets, secret_texts
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.engine.operations import IDENTITY, Operation, reads_of_karta

MOST_KINDS: Final = 1024
"""The most definitions of which it is remembered what they read."""
_REQUEST: Final = ("uid", "kind", "name", "namespace", "operation", "components")
_ITEM: Final = ("clusterName", "health")


class _Text(NamedTuple):
    """A text in an object or a list, and whether it is read."""

    owner: Any
    field: Any
    value: str
    is_read: bool


class Redaction:
    """Leaves texts out. Marks are the same for all documents of one instance."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._reads_by_name = dict[str, tuple[Definition, Projection]]()

    def redacted(self, request: bytes, answer: bytes, definition: Definition | None) -> tuple[bytes, bytes]:
        """Return a request and its answer without the texts. Both are JSON.

        A script may give any text of an object, and Retain copies texts that no condition reads.
        """
        call, answered = orjson.loads(request), orjson.loads(answer)
        of_secrets = [*secret_texts(call)] if mentions_secrets(request) else []
        marks = self.redact(call, [self._reads_of_request(definition)], of_secrets)
        is_copied = definition and (definition.scripts or get(call, ("request", "operation")) == Operation.RETAIN)
        if not is_copied:  # what a Karta reads of a Secret is in its answer
            marks = {text: marks[text] for *_, text in of_secrets if text in marks}
        if marks:
            _replace(answered, marks)
            patch = get(answered, ("response", "patch"))
            if isinstance(patch, str):
                steps = orjson.loads(base64.b64decode(patch))
                _replace(steps, marks)
                answered["response"]["patch"] = base64.b64encode(orjson.dumps(steps)).decode()
        return orjson.dumps(call), orjson.dumps(answered)

    def redact(
        self, document: JSON, reads: Sequence[Projection], of_secrets: Sequence[tuple[Any, Any, str]] = ()
    ) -> Mapping[str, str]:
        """Replace the texts of a document that no operation reads, or that Secrets within it keep.

        Return the mark of each replaced text.
        """
        texts = [*_texts(document, reads)]
        hidden = {(id(owner), field) for owner, field, _ in of_secrets}
        kept = {text.value for text in texts if text.is_read and (id(text.owner), text.field) not in hidden}
        kept.update(_merge_keys(document))
        marks = dict[str, str]()
        for owner, field, value, _ in texts:
            if value and value not in kept:
                if value not in marks:
                    digest = blake2b(value.encode(), key=self._key, digest_size=6)
                    marks[value] = f"redacted-{digest.hexdigest()}"
                owner[field] = marks[value]
        return marks

    def _reads_of_request(self, definition: Definition | None) -> Projection:
        if definition is None:
            return _reads_of_request(None)
        known = self._reads_by_name.get(definition.name)
        if known is None or known[0] is not definition:
            if len(self._reads_by_name) >= MOST_KINDS:
                self._reads_by_name.clear()
            known = self._reads_by_name[definition.name] = definition, _reads_of_request(definition)
        return known[1]


def _reads_of_request(definition: Definition | None) -> Projection:
    """Return what is read of a request of Karmada, by the definition of the kind if there is one."""
    whole = Projection()
    whole.take("apiVersion", "kind", *(f"request.{name}" for name in _REQUEST))
    whole.take(*(f"request.aggregatedStatus[].{name}" for name in _ITEM))
    of_object = Projection()
    of_object.take(*IDENTITY)
    if definition is not None:
        of_object = reads_of_karta(definition)
        if definition.has_karta and definition.answers(Operation.AGGREGATE_STATUS):
            whole.take("request.aggregatedStatus[].status")
    for name in ("object", "observedObject"):
        whole.at("request").fields[name] = of_object
    return whole


def _texts(document: JSON, reads: Sequence[Projection]) -> Iterator[_Text]:
    """Yield each text of a document."""
    pending: list[tuple[Any, Sequence[Projection]]] = [(document, reads)]
    while pending:
        owner, projections = pending.pop()
        is_object = type(owner) is dict
        is_whole = any(projection.is_whole for projection in projections)
        for field, value in owner.items() if is_object else enumerate(owner):
            kind = type(value)
            if kind is not str and kind is not dict and kind is not list:
                continue
            parts = projections if is_whole else _parts(projections, field)
            if kind is str:
                yield _Text(owner, field, value, any(part.is_whole for part in parts))
            else:
                pending.append((value, parts))


def _parts(projections: Sequence[Projection], field: str | int) -> list[Projection]:
    """Return what is read of a field of an object, or of an element of a list."""
    parts = list[Projection]()
    for projection in projections:
        if projection.elements is not None:
            parts.append(projection.elements)
        if isinstance(field, str) and field in projection.fields:
            parts.append(projection.fields[field])
    return parts


def _merge_keys(document: JSON) -> Iterator[str]:
    """Yield the texts in keys of ``fieldsV1``, which name an element of a list by its values: ``k:{"name":"web"}``."""
    pending: list[JSON] = [document]
    while pending:
        owner = pending.pop()
        if isinstance(owner, dict):
            pending += owner.values()
            for key in owner:
                if key[:2] in ("k:", "v:"):
                    yield from _texts_in_key(key[2:])
        elif isinstance(owner, list):
            pending += owner


def _texts_in_key(text: str) -> Iterator[str]:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return
    for part in value.values() if isinstance(value, dict) else [value]:
        if isinstance(part, str):
            yield part


def _replace(document: JSON, marks: Mapping[str, str]) -> None:
    for owner, field, value, _ in _texts(document, ()):
        owner[field] = marks.get(value, value)
