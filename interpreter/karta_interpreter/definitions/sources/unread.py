"""Objects of an API server that are passed on as text: only their identity is read.

To decode a megabyte takes 20 to 100 ms, in which no call is answered. To skip it takes one.

An API server takes objects of 10,000 levels, which no decoder here does. What is below `LEVELS` of them is cut off, in
a thread, so that the other objects of a list are known. Such an object has no text, and cannot be looked up.
"""

import asyncio
import re
import secrets
from collections.abc import AsyncGenerator
from functools import cached_property
from typing import Final

import msgspec
import orjson

from karta_interpreter.base.k8s import NewObject, Object
from karta_interpreter.base.k8s.secret_holders import holds_secret, mentions_secrets
from karta_interpreter.definitions.sources.api_errors import ApiRequest, read_event, unreadable
from karta_interpreter.definitions.sources.api_server import ApiServer

TEXT: Final = "text"
"""The field of an unread object that has its JSON, without ``metadata.managedFields``."""

LEVELS: Final = 800
"""Levels of a list or an event that are read if it has more than the decoder takes, which are about 1,000."""

_CUT: Final = f'"{secrets.token_hex(16)}"'.encode()
"""Stands where something was cut off. Nobody else can know it."""
_TOKEN: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)
_PARTS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ITEMS: Final = msgspec.json.Decoder(list[msgspec.Raw] | None)
_IDENTITY: Final = ("name", "namespace", "uid", "generation", "resourceVersion", "creationTimestamp")
_ERRORS: Final = (msgspec.MsgspecError, RecursionError, UnicodeError)


MOST_SEARCHED: Final = 2**17
"""Bytes that one look-up searches for Secrets. Hostile ones take 40 ms, once for each state of an object."""


class SuspectText(bytes):
    """The JSON of an object that mentions Secrets."""

    @property
    def unsearched(self) -> int:
        """The bytes that have to be searched for an answer."""
        return 0 if "holds_secret" in vars(self) or len(self) > MOST_SEARCHED else len(self)

    @cached_property
    def holds_secret(self) -> bool:
        """Whether a Secret is within it, as is assumed of one that is too large to be searched."""
        try:
            return len(self) > MOST_SEARCHED or holds_secret(orjson.loads(bytes(self)))
        except orjson.JSONDecodeError:
            return True


class UnreadObjects:
    """The objects of an API server, for an informer that keeps their texts."""

    def __init__(self, api: ApiServer, type_meta: Object) -> None:
        self._api = api
        # Objects of a list have no kind of their own.
        self._type = {name: msgspec.Raw(msgspec.json.encode(value)) for name, value in type_meta.items()}

    def pages(self, path: str) -> AsyncGenerator[Object]:
        """Yield the parts of a list, as `ApiServer.pages` does."""
        return self._api.pages(path, read=self._page)

    def watch(self, path: str, version: str, *, timeout_seconds: int) -> AsyncGenerator[tuple[str, Object]]:
        """Yield the events of a collection, as `ApiServer.watch` does."""
        return self._api.watch(path, version, timeout_seconds=timeout_seconds, read=self._event)

    async def _page(self, request: ApiRequest, content: bytes) -> Object:
        try:
            try:
                return self._read_page(content)
            except RecursionError:
                return self._read_page(await asyncio.to_thread(without_depths, content))
        except _ERRORS as error:
            raise unreadable(request, "the answer is no list") from error

    async def _event(self, request: ApiRequest, line: bytes) -> tuple[str, Object]:
        try:
            try:
                event = self._read_event(line)
            except RecursionError:
                event = self._read_event(await asyncio.to_thread(without_depths, line))
        except (*_ERRORS, KeyError):
            event = None  # worded below
        return event or read_event(request, line)

    def _read_page(self, content: bytes) -> Object:
        page = _PARTS.decode(content)
        items = _ITEMS.decode(page.get("items", b"null")) or ()
        return {"metadata": msgspec.json.decode(page.get("metadata", b"{}")), "items": [*map(self._unread, items)]}

    def _read_event(self, line: bytes) -> tuple[str, Object] | None:
        event = _PARTS.decode(line)
        kind = msgspec.json.decode(event["type"])
        return (kind, self._unread(event["object"])) if kind in {"ADDED", "MODIFIED", "DELETED"} else None

    def _unread(self, text: msgspec.Raw | bytes) -> Object:
        parts = self._type | _PARTS.decode(text)
        metadata = _PARTS.decode(parts.get("metadata", b"{}"))
        metadata.pop("managedFields", None)
        parts["metadata"] = msgspec.Raw(msgspec.json.encode(metadata))
        content = msgspec.json.encode(parts)
        if not content.isascii():
            content.decode()  # msgspec does not check that skipped text is UTF-8
        identity: NewObject = {name: msgspec.json.decode(metadata[name]) for name in _IDENTITY if name in metadata}
        if _CUT in content:
            content = b""
        return {"metadata": identity, TEXT: SuspectText(content) if mentions_secrets(content) else content}


def without_depths(text: bytes) -> bytes:
    """Return JSON without what is below `LEVELS`.

    >>> text = b"[1, " * 900 + b"]" * 900
    >>> without_depths(text).count(b"["), without_depths(b'{"a": ["]"]}')
    (800, b'{"a": ["]"]}')
    """
    parts, depth, end = list[bytes](), 0, 0
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if sign in b"[{":
            depth += 1
            if depth == LEVELS + 1:
                parts += text[end : token.start()], _CUT
        elif sign in b"]}":
            depth -= 1
            if depth == LEVELS:
                end = token.end()
    return b"".join((*parts, text[end:]))
