"""The specs of objects that were read before, so that they need not be read again while the rest of an object changes.

Karmada asks about one object again and again, mostly because its status has changed. The text of its spec is then the
same, byte for byte, and most of the object.
"""

import secrets
from itertools import count
from typing import Final, NamedTuple

import msgspec
import orjson

from karta_interpreter.base.k8s.values import Object
from karta_interpreter.engine.operations import Operation

MARK: Final = secrets.token_hex(16)
"""Stands in the place of a spec that is known. No client can guess it."""

_MOST_BYTES: Final = 16 * 2**20
_OVERHEAD: Final = 400
_FIELD: Final = b',"spec":'
_BEGIN: Final = _FIELD + b"{"
_MARKED: Final = b'%b"%b"' % (_FIELD, MARK.encode())


def kept(text: bytes) -> bytes:
    """Return the same text in no more memory than it needs: orjson's has room for 4 KB more, or for as much again."""
    return bytes(memoryview(text))


class KnownSpec(NamedTuple):
    """The field of a spec as text, a number that no other one has, and by operation what that reads of it, as text.

    The number is 0 where the text is what a spec seemed to be when it came for the first time.
    """

    field: bytes
    number: int
    parts: dict[str, bytes]

    def marked(self, text: bytes) -> bytes | None:
        """Return a request with `MARK` in the place of this spec, None where that is not the first spec in it.

        Where what is returned is JSON, and the mark the spec of an object, this spec is that of the object in ``text``:
        it is a JSON value, and so is the mark, which stands nowhere else.
        """
        at = text.find(_BEGIN)
        if at < 0 or not text.startswith(self.field, at):
            return None
        return b"%b%b%b" % (text[:at], _MARKED, text[at + len(self.field) :])


class _Spec(msgspec.Struct):
    spec: msgspec.Raw = msgspec.Raw()


class _Request(msgspec.Struct):
    object: _Spec


_REQUEST: Final = msgspec.json.Decoder(_Request)
_UNKNOWN: Final = KnownSpec(b"\0", 0, {})
"""Of an object that was asked about once; no JSON has its text."""

_STATUS: Final = b'},"status":'
_OBSERVED: Final = b',"observedObject":'


class KnownSpecs:
    """The specs of objects that were asked about more than once while they stayed the same, by kind and name.

    All are forgotten when they would take more than 16 MiB.
    """

    def __init__(self) -> None:
        self._specs, self._size, self._numbers = dict[bytes, KnownSpec](), 0, count(1)

    def find(self, about: bytes) -> KnownSpec | None:
        """Return the last known spec of an object, None at the first call about it."""
        known = self._specs.get(about)
        if known is None:
            self._add(about, _UNKNOWN, 0)
        return known

    def learn(self, about: bytes, text: bytes, operation: str, read: Object) -> None:
        """Keep the spec of the object of a request that was decoded, and what an operation has ``read`` of the object.

        A spec that differs from the one before is only kept when it comes again. Objects whose spec is not where Go
        writes it are left out.
        """
        at, known = text.find(_BEGIN), self._specs.get(about, _UNKNOWN)
        if at >= 0 and not text.startswith(known.field, at):
            # To find the end for certain is to read the request again: only for a spec that comes a second time, which
            # is told by all that seems to be in it.
            stop = text.rfind(_OBSERVED, at) if operation == Operation.RETAIN else -1
            end = text.rfind(_STATUS, at, stop)
            field = text[at : end if end >= 0 else stop]
            self._add(about, KnownSpec(field, 0, {}), len(field))
            return
        field = _FIELD + bytes(_REQUEST.decode(text).object.spec) if at >= 0 else b""
        if not (field.startswith(_BEGIN) and text.startswith(field, at)):
            return
        if not known.number or known.field != field:
            known = KnownSpec(field, next(self._numbers), {})
            self._add(about, known, len(field))
        part = kept(orjson.dumps(read["spec"])) if "spec" in read else b""
        known.parts[operation] = part
        self._size += len(part)

    def _add(self, about: bytes, known: KnownSpec, size: int) -> None:
        self._size += len(about) + size + _OVERHEAD
        if self._size > _MOST_BYTES:
            self._specs, self._size = {}, len(about) + size + _OVERHEAD
        self._specs[about] = known
