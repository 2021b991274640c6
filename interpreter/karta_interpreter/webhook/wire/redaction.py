"""Leaves values that may be secret out of a call: by their field, by their form, and wherever they are repeated.

A value becomes a mark. The mark is the same everywhere in one run of a program, so that a definition that compares two
values answers as before. The mark is a digest with a key, which only that run knows: short values cannot be guessed.
"""

import base64
import re
from collections.abc import Callable, Iterable, Iterator
from enum import Enum, auto
from functools import lru_cache, partial
from hashlib import blake2b
from itertools import pairwise
from typing import Any, Final, TypeVar

import orjson

from karta_interpreter.base.k8s import JSON, get

_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_ENVIRONMENTS: Final = frozenset({"env", "envs", "environment", "environments"})
_SECRETS: Final = frozenset(
    {"password", "passwords", "passwd", "pass", "pwd", "passphrase", "token", "tokens", "credential", "credentials"}
    | {"secret", "secrets", "authorization", "bearer", "jaas", "dsn", "apikey", "accesskey", "secretkey", "privatekey"}
)
_SECRET_PAIRS: Final = frozenset(
    {("api", "key"), ("access", "key"), ("private", "key"), ("account", "key"), ("encryption", "key")}
    | {("signing", "key"), ("connection", "string"), ("user", "data"), ("network", "data")}
)
_ABOUT: Final = frozenset(
    {"name", "names", "ref", "refs", "reference", "selector", "path", "file", "dir", "type", "class", "provider"}
    | {"namespace", "mount", "policy", "audience", "version", "store", "format", "from", "source"}
)
"""The last word of a field that only names or describes a value, or says from where to take it."""
_NAMING: Final = ("name", "Name", "namespace")
_DATA: Final = ("data", "stringData")
_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
_KEY: Final = r"pass(?:word|wd|phrase)?|pwd|token|secret|(?:api|access|account|private)[_.-]?key"
_INSIDE: Final = re.compile(
    rf"(?:{_KEY})[\"']?\s*[=:]\s*[\"']?[^\s\"'$]"  # --password=x, AccountKey=x, password="x" of JAAS, a key of JSON
    rf"|--[\w.-]*(?:{_KEY})\s+[\"']?[^\s\"'$-]"
    r"|authorization[\"']?\s*[:=]|\bbearer\s+[\w.-]{8}|://[^/\s:@\"]*:[^/\s@\"]+@|PRIVATE KEY-----",
    re.IGNORECASE,
)
_WITH_TEXT: Final = (str, dict, list)
_SEPARATOR: Final = re.compile(r"[=:\s]")
_LONG: Final = 8
"""The least characters of a value that is replaced in other texts, too. Shorter ones occur there by chance."""


class _Content(Enum):
    """The kind of content below a field."""

    PLAIN = auto()
    SECRET = auto()
    """Texts, and lists of texts, are secret."""
    ENVIRONMENT = auto()
    """Values of variables, in a list or an object."""
    VARIABLE = auto()
    """A variable of an environment."""
    ALL = auto()
    """Each text is secret."""


_T = TypeVar("_T")
_KEPT, _LONGEST_KEPT = 4096, 256
"""Texts that are kept per function, and characters of each: a body may have one text of a megabyte."""


def _remembered(function: Callable[[str], _T], most: int = _KEPT) -> Callable[[str], _T]:
    """Return a function that remembers its results for short texts."""
    remembered = lru_cache(most)(function)
    return lambda text: remembered(text) if len(text) <= _LONGEST_KEPT else function(text)


class Redaction:
    """Leaves values out of calls. Marks are the same for calls of one instance."""

    def __init__(self, key: bytes) -> None:
        # Most values come again and again.
        self._mark_of = _remembered(
            lambda value: f"redacted-{blake2b(value.encode(), key=key, digest_size=6).hexdigest()}"
        )

    def redacted(self, request: bytes, answer: bytes) -> tuple[bytes, bytes]:
        """Return request and answer without the values. Both are JSON."""
        call, answered = orjson.loads(request), orjson.loads(answer)
        marks: dict[str, str] = {}
        mark = partial(self._mark, marks)
        _replace_secrets(call, mark)
        patch = get(answered, ("response", "patch"))
        steps = orjson.loads(base64.b64decode(patch)) if isinstance(patch, str) else []
        for step in steps:
            _in_step(step, partial(_replace_secrets, mark=mark))
        _replace_secrets(answered, mark)
        if not marks:
            return request, answer
        identity = _identity(call)
        long = [pair for pair in marks.items() if len(pair[0]) >= _LONG and pair[0] not in identity]
        for document in (call, answered):
            _replace_known(document, long)
        if steps:
            for step in steps:
                _in_step(step, partial(_replace_known, long=long))
            answered["response"]["patch"] = base64.b64encode(orjson.dumps(steps)).decode()
        return orjson.dumps(call), orjson.dumps(answered)

    def redacted_document(self, document: bytes) -> bytes:
        """Return a JSON document without the values. One that names or labels an object is replaced only in place."""
        value, marks = orjson.loads(document), dict[str, str]()
        _replace_secrets(value, partial(self._mark, marks))
        identity = "\n".join(_names_and_labels(value))
        _replace_known(value, [pair for pair in marks.items() if len(pair[0]) >= _LONG and pair[0] not in identity])
        return orjson.dumps(value)

    def _mark(self, marks: dict[str, str], value: str) -> str:
        marks[value] = self._mark_of(value)
        return marks[value]


def _identity(call: JSON) -> str:
    """Return the names that identify a call, in one text."""
    names = [get(call, ("request", *path)) for path in (("name",), ("namespace",), ("object", "apiVersion"))]
    return "\n".join(str(name) for name in (*names, get(call, ("request", "kind"))))


def _names_and_labels(document: JSON) -> Iterator[str]:
    """Yield what tells objects apart, and what refers to them: names, namespaces and labels."""
    pending: list[tuple[str, Any]] = [("", document)]
    while pending:
        parent_field, parent = pending.pop()
        is_object = type(parent) is dict
        for field, value in parent.items() if is_object else ((parent_field, each) for each in parent):
            if type(value) is str and (parent_field == "labels" or field.endswith(_NAMING)):
                yield value
            elif type(value) in (dict, list):
                pending.append((field, value))


def _in_step(step: dict[str, Any], replace: Callable[[JSON], None]) -> None:
    """Replace values in a step of a patch, using the names of fields in its path."""
    parts = [name.replace("~1", "/").replace("~0", "~") for name in step["path"].split("/")]
    document: Any = step.get("value")
    for segment in reversed(parts):
        document = [document] if segment.isdigit() or segment == "-" else {segment: document}
    replace(document)
    if "value" in step:
        for segment in parts:
            document = document[0 if segment.isdigit() or segment == "-" else segment]
        step["value"] = document


def _replace_secrets(document: JSON, mark: Callable[[str], str]) -> None:
    """Replace the texts that may be secret."""
    pending: list[tuple[Any, _Content]] = [(document, _Content.PLAIN)]
    while pending:
        parent, content = pending.pop()
        is_object = type(parent) is dict
        if content is _Content.PLAIN and is_object and type(parent.get("name")) is str and "value" in parent:
            content = _Content.VARIABLE
        is_secret = is_object and parent.get("kind") == "Secret"
        for field, value in parent.items() if is_object else enumerate(parent):
            if not value or type(value) not in _WITH_TEXT:
                continue
            inner = _Content.ALL if is_secret and field in _DATA else _content(field, value, content, is_object)
            if type(value) is not str:
                pending.append((value, inner))
            elif inner is not _Content.PLAIN or _has_secret(value):
                parent[field] = mark(value)


def _content(field: str | int, value: JSON, content: _Content, is_object: bool) -> _Content:
    """Return the content of a field of an object, or of an element of a list, by the content of the whole."""
    if content is _Content.ALL:
        return content
    if content is _Content.ENVIRONMENT:
        # An object has the values by their names.
        return content if isinstance(value, str) else _Content.VARIABLE
    if not is_object:
        return content if content is not _Content.VARIABLE and isinstance(value, str) else _Content.PLAIN
    if content is _Content.VARIABLE and field == "value":
        return _Content.ALL
    named = _content_of_name(str(field))
    if named is not _Content.SECRET or isinstance(value, str):
        return named
    # A list called secrets has their names.
    return named if isinstance(value, list) and not str(field).lower().endswith("secrets") else _Content.PLAIN


# Kept: an object has many fields, but few different names.
@_remembered
def _content_of_name(field: str) -> _Content:
    words = [word.lower() for word in _WORD.findall(field)]
    if field == _APPLIED:
        return _Content.SECRET
    if not words or words[-1] in _ABOUT:
        return _Content.PLAIN
    if not _ENVIRONMENTS.isdisjoint(words):
        return _Content.ENVIRONMENT
    is_secret = not _SECRETS.isdisjoint(words) or any(pair in _SECRET_PAIRS for pair in pairwise(words))
    return _Content.SECRET if is_secret else _Content.PLAIN


@_remembered
def _has_secret(text: str) -> bool:
    return len(text) >= _LONG and bool(_SEPARATOR.search(text) and _INSIDE.search(text))


def _replace_known(document: JSON, long: Iterable[tuple[str, str]]) -> None:
    """Replace values in all texts that contain them."""
    text = orjson.dumps(document)
    long = [pair for pair in long if orjson.dumps(pair[0])[1:-1] in text]
    pending: list[Any] = [document] if long else []
    while pending:
        parent = pending.pop()
        for field, value in parent.items() if type(parent) is dict else enumerate(parent):
            if type(value) is str:
                for secret, mark in long:
                    parent[field] = parent[field].replace(secret, mark)
            elif type(value) is dict or type(value) is list:
                pending.append(value)
