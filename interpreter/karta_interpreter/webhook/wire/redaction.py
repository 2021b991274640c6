"""Leaves values that may be secret out of a call: those of environments, of Secrets, and of fields with such names.

A value becomes a mark, the same one wherever it stands in one run of a program, so that a definition that compares two
of them answers as before. The mark is a digest with a key, which only that run knows: short values cannot be guessed.
"""

import base64
import re
import secrets
from collections.abc import Iterator
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final, TypeAlias

import orjson

from karta_interpreter.base.k8s.values import JSON

_ENVIRONMENT: Final = re.compile(r"env(s|vars?|ironment)?", re.IGNORECASE)
_NAMES: Final = re.compile(
    r"(password|passwd|passphrase|token|credentials?|secret|(api|access|private)_?key)", re.IGNORECASE
)
_DATA: Final = ("data", "stringData")
_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
_SUSPECT: Final = (
    b'"env', b"last-applied-configuration", b"passw", b"passphrase", b"token", b"credential", b"secret",
    b'key"',
)  # fmt: skip
"""Text without any of these has nothing to leave out, and need not be read."""
_LONG: Final = 8
"""Characters of a value that is found in other texts, too: shorter ones are part of innocent texts by chance."""

_SOURCE: Final = (
    rb'"(?:key|name|optional|apiVersion|fieldPath|containerName|divisor|resource)":(?:"[^"\\]*+"|true|false),?'
)
_VARIABLE: Final = (
    rb'\{"name":"[^"\\]*+",(?:"value":"[^"\\]*+"|"valueFrom":\{"[A-Za-z]++":\{(?:%b)*+\}\})\},?' % _SOURCE
)
_VARIABLES: Final = re.compile(rb'"env":\[(?:%b)++\]' % _VARIABLE)
"""Most environments as Go writes them. No text has these bytes: its quotes are escaped. Others are read as JSON."""
_VALUE: Final = re.compile(rb'(?<="value":")[^"]+')

_Place: TypeAlias = tuple[dict[str, JSON], str]
_Found: TypeAlias = tuple[bytes, bytes]
"""A long value as it is within texts of JSON, and its mark."""


class Redaction:
    """Leaves values out of calls; marks are the same for calls of one instance."""

    def __init__(self, key: bytes) -> None:
        # Most values come again and again, and so do environments.
        self._mark_of = lru_cache(maxsize=4096)(
            lambda value: f"redacted-{blake2b(value.encode(), key=key, digest_size=6).hexdigest()}"
        )
        self._without_values = lru_cache(maxsize=512)(self._marked_variables)
        self._name = secrets.token_hex(16).encode()
        self._place = re.compile(rb'"%b([0-9]+)":0' % self._name)

    def redacted(self, request: bytes, answer: bytes) -> tuple[bytes, bytes]:
        """Return request and answer without the values; both are JSON."""
        taken: list[tuple[bytes, list[_Found]]] = []

        def take(variables: re.Match[bytes]) -> bytes:
            taken.append(self._without_values(variables[0]))
            return b'"%b%d":0' % (self._name, len(taken) - 1)

        text = _VARIABLES.sub(take, request)
        found = [each for _, values in taken for each in values]
        if _is_suspect(text):
            asked = orjson.loads(text)
            if marks := self._mark(asked):
                found += _long(marks)
                text = orjson.dumps(asked)
        elif not taken:
            return request, answer
        text = self._place.sub(lambda place: taken[int(place[1])][0], text)
        return (request, answer) if text == request else (text, self._answer(answer, found))

    def _marked_variables(self, variables: bytes) -> tuple[bytes, list[_Found]]:
        marks = {value: self._mark_of(value) for value in map(bytes.decode, _VALUE.findall(variables))}
        return _VALUE.sub(lambda value: marks[value[0].decode()].encode(), variables), _long(marks)

    def _answer(self, answer: bytes, found: list[_Found]) -> bytes:
        # Without a backslash there is one way to write a text, so that values are found in the bytes.
        if b"\\" not in answer and b'"patch"' not in answer and not _is_suspect(answer):
            return _without(answer, found)
        answered = orjson.loads(answer)
        response = answered.get("response", {})
        if patch := response.get("patch"):
            steps = orjson.loads(base64.b64decode(patch))
            for step in steps:
                self._mark_step(step)
            response["patch"] = base64.b64encode(_without(orjson.dumps(steps), found)).decode()
        self._mark(answered)
        return _without(orjson.dumps(answered), found)

    def _mark(self, document: JSON) -> dict[str, str]:
        """Replace the values in a document; return the mark of each."""
        marks: dict[str, str] = {}
        for parent, field in _secrets(document):
            value = parent[field]
            marks[value] = parent[field] = self._mark_of(value)
        return marks

    def _mark_step(self, step: dict[str, Any]) -> None:
        """Replace the values in a step of a patch, whose path has the names of fields."""
        parts = step["path"].split("/")
        wrapped: Any = step.get("value")
        for part in reversed(parts):
            wrapped = [wrapped] if part.isdigit() else {part: wrapped}
        if self._mark(wrapped):
            for part in parts:
                wrapped = wrapped[0 if part.isdigit() else part]
            step["value"] = wrapped


def _secrets(document: JSON) -> Iterator[_Place]:
    """Yield the places of texts that may be secret."""
    pending = [document]
    while pending:
        parent = pending.pop()
        if isinstance(parent, list):
            pending += parent
        if not isinstance(parent, dict):
            continue
        for field, value in parent.items():
            kind = type(value)
            if kind is str:
                if value and _of_name(field):
                    yield parent, field
            elif kind is dict or kind is list:
                pending.append(value)
                if _of_environment(field) or (field in _DATA and parent.get("kind") == "Secret"):
                    yield from _texts(value)


def _texts(values: JSON) -> Iterator[_Place]:
    """Yield the texts of an object, or those named value in a list of objects."""
    if isinstance(values, dict):
        yield from ((values, name) for name, value in values.items() if isinstance(value, str) and value)
        return
    for each in values:
        if isinstance(each, dict) and isinstance(each.get("value"), str) and each["value"]:
            yield each, "value"


# Kept: an object has many fields, and few names of them.
@lru_cache(maxsize=4096)
def _of_name(field: str) -> bool:
    return field == _APPLIED or bool(_NAMES.search(field))


@lru_cache(maxsize=4096)
def _of_environment(field: str) -> bool:
    return bool(_ENVIRONMENT.fullmatch(field))


def _is_suspect(text: bytes) -> bool:
    text = text.lower()
    return any(part in text for part in _SUSPECT)


def _long(marks: dict[str, str]) -> list[_Found]:
    return [(orjson.dumps(value)[1:-1], mark.encode()) for value, mark in marks.items() if len(value) >= _LONG]


def _without(text: bytes, found: list[_Found]) -> bytes:
    """Return JSON without some values, also where they are part of another text."""
    for value, mark in found:
        if value in text:
            text = text.replace(value, mark)
    return text
