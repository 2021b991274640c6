"""Objects of an API server that are passed on as text: only their identity is read.

To decode a megabyte takes 20 to 100 ms, in which no call is answered. To skip it takes one.
"""

from collections.abc import AsyncGenerator
from typing import Any, Final

import msgspec

from karta_interpreter.base.k8s import Object
from karta_interpreter.definitions.sources.api_errors import ApiRequest, read_event, unreadable
from karta_interpreter.definitions.sources.api_server import ApiServer

TEXT: Final = "text"
"""The field of an unread object that has its JSON, without ``metadata.managedFields``."""

_PARTS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ITEMS: Final = msgspec.json.Decoder(list[msgspec.Raw] | None)
_IDENTITY: Final = ("name", "namespace", "uid", "generation", "resourceVersion", "creationTimestamp")
_ERRORS: Final = (msgspec.MsgspecError, RecursionError, UnicodeError)


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

    def _page(self, request: ApiRequest, content: bytes) -> Object:
        try:
            page = _PARTS.decode(content)
            items = _ITEMS.decode(page.get("items", b"null")) or ()
            return {"metadata": msgspec.json.decode(page.get("metadata", b"{}")), "items": [*map(self._unread, items)]}
        except _ERRORS as error:
            raise unreadable(request, "the answer is no list") from error

    def _event(self, request: ApiRequest, line: bytes) -> tuple[str, Object]:
        try:
            event = _PARTS.decode(line)
            kind = msgspec.json.decode(event["type"])
            if kind in {"ADDED", "MODIFIED", "DELETED"}:
                return kind, self._unread(event["object"])
        except (*_ERRORS, KeyError):
            pass  # worded below
        return read_event(request, line)

    def _unread(self, text: msgspec.Raw | bytes) -> Object:
        parts = self._type | _PARTS.decode(text)
        metadata = _PARTS.decode(parts.get("metadata", b"{}"))
        metadata.pop("managedFields", None)
        parts["metadata"] = msgspec.Raw(msgspec.json.encode(metadata))
        content = msgspec.json.encode(parts)
        if not content.isascii():
            content.decode()  # msgspec does not check that skipped text is UTF-8
        identity: dict[str, Any] = {name: msgspec.json.decode(metadata[name]) for name in _IDENTITY if name in metadata}
        return {"metadata": identity, TEXT: content}
