"""Secrets within other objects: in manifests of a Work, items of a List, or what an annotation says was applied.

Whoever may read such an object may not be allowed to read the Secret, so what a Secret keeps is found by its content.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

import orjson

from karta_interpreter.base.k8s.values import JSON, Object, parts_of

_WITHHELD: Final = "withheld"
_KINDS: Final = ("Secret", "SecretList")
_KEPT: Final = frozenset({"data", "stringData", "items"})
# Also in a text within JSON, whose quotes have backslashes, and in YAML.
_MENTION: Final = re.compile(rb"""kind[\\"']*\s*:\s*[\\"']*Secret(?:List)?(?![A-Za-z])""")
_KIND: Final = re.compile(r"""kind["']?\s*:\s*["']?Secret(?:List)?(?![A-Za-z])""")
_CONTENT: Final = re.compile(r"""(?:data|stringData|items)["']?\s*:""")


def mentions_secrets(text: bytes) -> bool:
    """Return whether an object may hold a Secret, by its JSON.

    >>> mentions_secrets(b'{"kind":"Secret"}'), mentions_secrets(b'{"imagePullSecrets":[]}')
    (True, False)
    """
    return b"Secret" in text and _MENTION.search(text) is not None


def secret_texts(value: JSON) -> Iterator[tuple[Any, Any, str]]:
    """Yield the texts that Secrets within a value keep, each with its object or list and its field there.

    A reference to a Secret, such as the resource of a binding, keeps none.

    >>> secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "data": {"key": "eA=="}}
    >>> [text for *_, text in secret_texts({"manifests": [secret]})]
    ['eA==']
    """
    pending: list[tuple[JSON, bool]] = [(value, False)]
    while pending:
        owner, is_kept = pending.pop()
        is_secret = type(owner) is dict and owner.get("kind") in _KINDS and owner.get("apiVersion") == "v1"
        for field, part in parts_of(owner):
            kind = type(part)
            if kind is dict or kind is list:
                pending.append((part, is_kept or (is_secret and field in _KEPT)))
            elif kind is str and (
                is_kept or (is_secret and field in _KEPT) or ("Secret" in part and _has_secret(part))
            ):
                yield owner, field, part


def holds_secret(value: JSON) -> bool:
    """Return whether an object holds what a Secret keeps.

    >>> applied = '{"apiVersion":"v1","kind":"Secret","stringData":{"key":"x"}}'
    >>> holds_secret({"metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": applied}}})
    True
    >>> holds_secret({"spec": {"resource": {"apiVersion": "v1", "kind": "Secret", "name": "key"}}})
    False
    """
    return next(secret_texts(value), None) is not None


def without_secrets(content: bytes) -> Object:
    """Return the object of a JSON text, with a mark for each text that a Secret within it keeps."""
    obj: Object = orjson.loads(content)
    for owner, field, _ in [*secret_texts(obj)]:
        owner[field] = _WITHHELD
    return obj


def _has_secret(text: str) -> bool:
    """Return whether a text is a manifest, or several, with what a Secret keeps."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return bool(_KIND.search(text) and _CONTENT.search(text))
    return holds_secret(value)
