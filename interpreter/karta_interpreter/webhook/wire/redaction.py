"""Leaves values that may be secret out of a call: by their field, by their form, and wherever they are repeated.

A value becomes a mark. The mark is the same everywhere in one run of a program, so that a definition that compares two
values answers as before. The mark is a digest with a key, which only that run knows: short values cannot be guessed.
"""

import base64
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum, auto
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from typing import Any, Final, TypeVar

import orjson

from karta_interpreter.base.errors import RecordingError
from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s import JSON, NOTHING, get

_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_ENVIRONMENTS: Final = frozenset({"env", "envs", "environment", "environments"})
_SECRET: Final = re.compile(
    r"pass|(?:.*pass(?:words?|wd|phrase)|.*pwd|.*tokens?|.*secrets?|.*credentials?|creds|.*auth|authorization|bearer"
    r"|(?:api|access|secret|private|priv|ssh|license|master|shared)keys?|keyrings?|keytab|keystore|.*(?:require|key|store)pass"
    r"|jaas|dsn|jwt|cookies?|otp|sig|signature|docker(?:config(?:json)?|cfg)|kubeconfig|netrc|pgpass)"
)
"""A word for a secret, in small letters. Names may be written as one word."""
_SECRET_PAIRS: Final = frozenset({("connection", "string"), ("user", "data"), ("network", "data")})
_OF_NAMES: Final = frozenset({("key", "ref"), ("from", "secret")})
"""Words in a field that has the name of a Secret, of whatever follows."""
_PLAIN_KEYS: Final = frozenset(
    {"annotation", "cache", "config", "data", "field", "foreign", "group", "hash", "header", "index", "label", "map"}
    | {"match", "metadata", "node", "object", "partition", "pod", "primary", "property", "public", "resource"}
    | {"route", "routing", "selector", "shard", "sort", "tenant", "topology", "unique", "zone", "host", "labels"}
)
"""The words before ``key`` in names whose values are not secret."""
_NUMBERS: Final = frozenset({"max", "min", "num", "new", "batched", "total", "input", "output", "prompt", "completion"})
"""The words before ``tokens`` that count those of a model."""
_ABOUT: Final = frozenset(
    {"name", "names", "ref", "refs", "reference", "selector", "path", "file", "dir", "type", "class", "provider"}
    | {"namespace", "mount", "policy", "audience", "version", "store", "format", "from", "source", "mode", "method"}
    | {"enabled", "url", "endpoint", "server", "host", "port", "seconds", "timeout", "interval", "algorithm", "issuer"}
)
"""The last word of a field that only names or describes a value, or says from where to take it."""
_NAMING: Final = ("name", "Name", "namespace", "kind", "apiVersion")
_DATA: Final = ("data", "stringData")
_FREE: Final = frozenset({"args", "command", "annotations", "value", *_DATA})
"""Fields whose texts may be anything."""
_SHOWN: Final = 64
"""The most characters of a text in the log."""
_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
_ASSIGNED: Final = re.compile(
    # --password=x, AccountKey=x, password="x" of JAAS, a key of JSON, but not the port of a host
    r"(?<![\w.-])([\w.-]++)[\\\"']*+(?:\s*=|\s*:(?!//|\d{2,5}\b))\s*[\\\"']*([^\s\"'\\$,;&]+)"
    # followed by more pairs in the argument of another option
    r"|(?<![\w.-])(--[\w.-]++)(?=\s+[\"']?([^\s\"'$-][^\s\"']*))"
)
_FORM: Final = re.compile(
    r"(?:\b[Bb]earer|[Aa]uthorization\W+Basic)\s+([\w.+/=-]{8,})|\b(?:requirepass|masterauth)\s+(\S+)"
    r"|\slogin\s+\S+\s+password\s+(\S+)|(?:^|\s)(?:-u|--user)[\s=]+[^\s:]+:(\S+)|://(?:[^/\s@:\"]*:)?([^/\s@\"]+)@"
    r"|[\w.-]:([^\s:/@]+)@(?:(?:tcp|unix)?\(|[\w.-]+(?::\d+)?/)|PRIVATE KEY-----|SECRET-KEY-1"
    r"|\b((?:gh[pousr]_|github_pat_|glpat-|hf_|sk-|npm_|dckr_pat_|xox[abprs]-|AKIA|AIza|eyJ[\w-]+\.eyJ)[\w-]{8,})"
)
_OF_REFERENCES: Final = frozenset({"key", "keys", "items", "optional"})
"""The last word of a field in a reference to a Secret, or in a volume of one."""
_PLAIN: Final = frozenset({"true", "false", "none", "null"})
_WITH_TEXT: Final = (str, dict, list)
_LONG: Final = 8
"""The least characters of a value that is replaced in other texts, too. Shorter ones occur there by chance."""
_PARTS: Final = re.compile(r"[,;:]")
_WORDS: Final = re.compile(r"\w+")
_MOST_COMPARED: Final = 16
"""The most characters of values that are compared with each character of the texts, on average."""


class _Content(Enum):
    """The kind of content below a field."""

    PLAIN = auto()
    SECRET = auto()
    """Texts, and lists of texts, are secret."""
    ENVIRONMENT = auto()
    """Values of variables, in a list or an object."""
    VARIABLE = auto()
    """A variable of an environment."""
    INSIDE = auto()
    """Texts are secret, unless their fields only name or describe something."""
    NAMES = auto()
    """Names of Secrets, and of fields in them."""
    ALL = auto()
    """Each text is secret."""


_NAMED: Final = frozenset({_Content.SECRET, _Content.INSIDE})
_UNMARKED: Final = frozenset({_Content.PLAIN, _Content.NAMES})


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
        """Return request and answer without the values. Both are JSON. Raises RecordingError for too many values."""
        call, answered = orjson.loads(request), orjson.loads(answer)
        patch = get(answered, ("response", "patch"))
        steps = orjson.loads(base64.b64decode(patch)) if isinstance(patch, str) else []
        placed = [*map(_placed, steps)]
        if not self._replace([call, answered, *(document for document, _ in placed)]):
            return request, answer
        for step, (_, owner) in zip(steps, placed, strict=True):
            if "value" in step:
                (step["value"],) = owner.values() if type(owner) is dict else owner
        if steps:
            answered["response"]["patch"] = base64.b64encode(orjson.dumps(steps)).decode()
        return orjson.dumps(call), orjson.dumps(answered)

    def redacted_document(self, document: bytes) -> bytes:
        """Return a JSON document without the values. Raises RecordingError for too many values."""
        value = orjson.loads(document)
        self._replace([value])
        return orjson.dumps(value)

    def _replace(self, documents: list[JSON]) -> bool:
        """Replace values in documents, and return whether there were any.

        A value that names or labels an object is replaced only in its own field.
        """
        places = [*_secret_places(documents)]
        texts = [*_texts(documents)] if places else []
        of_secrets = {text for name, owner, field, text in texts if _names_secret(name, owner, field)}
        marks: dict[str, str] = {}
        for owner, field, content, values in places:
            # Some fields with the names of Secrets have a word for a secret themselves.
            if content not in _NAMED or of_secrets.isdisjoint(_PARTS.split(owner[field])):
                marks |= {value: self._mark_of(value) for value in (*values, owner[field])}
                owner[field] = marks[owner[field]]
        if long := [value for value in marks if len(value) >= _LONG]:
            known_values = _KnownValues(long, "\n".join(owner[field] for _, owner, field, _ in texts))
            # What distinguishes objects, and what refers to them.
            names = [
                owner[field]
                for name, owner, field, _ in texts
                if name == "labels" or (field if type(owner) is dict else name).endswith(_NAMING)
            ]
            shown_values = {value for name in names for _, value in known_values.within(name)}
            for _, owner, field, _ in texts:
                owner[field] = known_values.replaced(owner[field], marks, shown_values)
        return bool(marks)


def shown(field: str, value: JSON) -> str:
    """Return a value for the log: numbers and short texts as they are, unless they may be secret.

    >>> shown(".spec.replicas", 3), shown(".spec.template.spec.containers[].env[].value", "s3cr3t")
    ('3', 'a text of 6 characters')
    """
    match value:
        case dict():
            return f"an object of {count(len(value), 'field')}"
        case list():
            return f"a list of {count(len(value), 'element')}"
        case str():
            names = re.findall(r"[^].[\"]+", field)
            is_named = any(name in _FREE or _content_of_name(name) not in _UNMARKED for name in names)
            if len(value) > _SHOWN or is_named or _secrets_in(value):
                return f"a text of {count(len(value), 'character')}"
    return "no value" if value is NOTHING else orjson.dumps(value).decode()


class _KnownValues:
    """Finds values in texts in one pass, by the rarest word of each."""

    def __init__(self, values: Iterable[str], texts: str) -> None:
        """Find values in texts, which are given together."""
        words = Counter(word for value in values for word in _WORDS.findall(value))
        present = words.keys() & _WORDS.findall(texts)
        self._by_word = dict[str, list[tuple[int, str]]]()
        self._left = _MOST_COMPARED * (len(texts) + _KEPT)
        for value in sorted(values, key=len, reverse=True):
            rarest = min(_WORDS.finditer(value), key=lambda word: words[word[0]], default=None)
            if rarest and rarest[0] in present:
                self._by_word.setdefault(rarest[0], []).append((rarest.start(), value))

    def within(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield where values are in a text, the longer of two first. Raises RecordingError for too many values."""
        if not self._by_word or self._by_word.keys().isdisjoint(_WORDS.findall(text)):
            return
        for word in _WORDS.finditer(text):
            for offset, value in self._by_word.get(word[0], ()):
                self._left -= len(value)
                if self._left < 0:
                    raise RecordingError("it repeats too many values that may be secret")
                if word.start() >= offset and text.startswith(value, word.start() - offset):
                    yield word.start() - offset, value

    def replaced(self, text: str, marks: Mapping[str, str], shown_values: set[str]) -> str:
        """Return a text with marks instead of values."""
        pieces, end = [], 0
        for start, value in self.within(text):
            if start >= end and value not in shown_values:
                pieces += [text[end:start], marks[value]]
                end = start + len(value)
        return "".join([*pieces, text[end:]])


def _texts(document: JSON) -> Iterator[tuple[str, Any, Any, str]]:
    """Yield each text with the object or list that has it, the name of that, and its own field there."""
    pending: list[tuple[str, Any]] = [("", document)]
    while pending:
        name, owner = pending.pop()
        for field, value in owner.items() if type(owner) is dict else enumerate(owner):
            if type(value) is str:
                yield name, owner, field, value
            elif type(value) is dict or type(value) is list:
                field_name: Any = field if type(owner) is dict and name != "labels" else name
                pending.append((field_name, value))


def _names_secret(name: str, owner: Any, field: Any) -> bool:  # noqa: ANN401 - JSON
    if type(owner) is list:
        return False
    is_secret = owner.get("kind") == "Secret" or "secret" in name.lower()
    return bool(field.endswith("ecretName") or (field == "name" and is_secret))


def _placed(step: dict[str, Any]) -> tuple[JSON, Any]:
    """Return a document with the value of a step of a patch at its path, and the object or list that has the value."""
    document, owner = step.get("value"), None
    for segment in reversed(step["path"].replace("~1", "\0").replace("~0", "~").split("/")):
        document = [document] if segment.isdigit() or segment == "-" else {segment.replace("\0", "/"): document}
        owner = owner or document
    return document, owner


def _secret_places(document: JSON) -> Iterator[tuple[Any, Any, _Content, tuple[str, ...]]]:
    """Yield the objects and lists, and the fields in them, with texts that may be secret.

    The values are parts of such a text, which is then secret whatever its field is.
    """
    pending: list[tuple[Any, _Content]] = [(document, _Content.PLAIN)]
    while pending:
        parent, content = pending.pop()
        is_object = type(parent) is dict
        before: JSON = None
        if content is _Content.PLAIN and is_object and "value" in parent and _is_variable(parent):
            content = _Content.VARIABLE
        is_secret = is_object and parent.get("kind") == "Secret"
        for field, value in parent.items() if is_object else enumerate(parent):
            option, before = before, value
            if not value or type(value) not in _WITH_TEXT:
                continue
            inner = _Content.ALL if is_secret and field in _DATA else _content(field, value, content, is_object)
            if type(value) is not str:
                pending.append((value, inner))
                continue
            values = () if inner is _Content.NAMES else _secrets_in(value)
            if values or (not is_object and type(option) is str and _is_option(option) and value[0] != "-"):
                inner = _Content.ALL
            if inner not in _UNMARKED and value not in _PLAIN:
                yield parent, field, inner, values


def _is_variable(obj: dict[str, Any]) -> bool:
    """Return whether an object with a value gives the name of a variable, or the key of a secret."""
    key = obj.get("key")
    return type(obj.get("name")) is str or (type(key) is str and _content_of_name(key) is _Content.SECRET)


def _content(field: str | int, value: JSON, content: _Content, is_object: bool) -> _Content:
    """Return the content of a field of an object, or of an element of a list, by the content of the whole."""
    if content is _Content.ALL:
        return content
    if content is _Content.ENVIRONMENT:
        # An object has the values by their names.
        if isinstance(value, str):
            return content
        return _Content.NAMES if _content_of_name(str(field)) is _Content.NAMES else _Content.VARIABLE
    if not is_object:
        is_kept = content is _Content.INSIDE or (content is not _Content.VARIABLE and isinstance(value, str))
        return content if is_kept else _Content.PLAIN
    if content is _Content.VARIABLE and field == "value":
        return _Content.ALL
    named = _content_of_name(str(field))
    if content is _Content.INSIDE and named is _Content.PLAIN:
        words = _words(str(field))
        return _Content.PLAIN if words and words[-1] in _ABOUT | _OF_REFERENCES else content
    if named is not _Content.SECRET or isinstance(value, str):
        return named
    # A list called secrets has their names, and an object has them as its keys.
    inside = named if isinstance(value, list) else _Content.INSIDE
    return _Content.PLAIN if str(field).lower().endswith("secrets") else inside


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name.rpartition("/")[2])]


# Kept: an object has many fields, but few different names.
@_remembered
def _content_of_name(field: str) -> _Content:
    if field == _APPLIED:
        return _Content.SECRET
    words = _words(field)
    pairs = [*pairwise(words)]
    if not _OF_NAMES.isdisjoint(pairs):
        return _Content.NAMES
    if not words or words[-1] in _ABOUT or "secrets" in words[:-1]:
        return _Content.PLAIN
    if not _ENVIRONMENTS.isdisjoint(words):
        return _Content.ENVIRONMENT
    is_secret = any(pair in _SECRET_PAIRS or (pair[1] == "key" and pair[0] not in _PLAIN_KEYS) for pair in pairs)
    is_secret = is_secret or (field[0] == "-" and words == ["key"])
    named = [word for before, word in [("", words[0]), *pairs] if before not in _NUMBERS or word != "tokens"]
    return _Content.SECRET if is_secret or any(map(_SECRET.fullmatch, named)) else _Content.PLAIN


@_remembered
def _is_option(text: str) -> bool:
    return text[:1] == "-" and not re.search(r"[\s=]", text) and _content_of_name(text) is _Content.SECRET


@_remembered
def _secrets_in(text: str) -> tuple[str, ...]:
    """Return the values that a text gives to names of secrets, and those that have the form of a secret."""
    if len(text) < _LONG:
        return ()
    assigned = ((match[1] or match[3], match[2] or match[4]) for match in _ASSIGNED.finditer(text))
    named = [value for name, value in assigned if _content_of_name(name) is _Content.SECRET and value not in _PLAIN]
    return (*named, *(match[match.lastindex or 0] for match in _FORM.finditer(text)))
