"""The memory that the definitions of all sources may take together, estimated from their text."""

import marshal
import sys
import threading
from collections.abc import Hashable, Iterable, Sequence
from typing import Final, Self, TypeVar

import orjson

from karta_interpreter.base.k8s import JSON
from karta_interpreter.base.sandbox.container import container_memory

MOST: Final = 2**30
"""The largest budget of a process, in bytes. In a smaller container it is an eighth of the memory."""

MOST_REFUSED: Final = 1000

_SIGNS: Final = (b":", b",", b"{", b"[", b"\n")
_SIGN_BYTES: Final = 256
_NESTED_BYTES: Final = 128
_MIB: Final = 2**20

Source = TypeVar("Source", bound=Hashable)


def weight(text: bytes, sign_bytes: int = _SIGN_BYTES) -> int:
    """Return an estimate of the bytes that a definition read from a text takes.

    A long text is kept together with its definition. Small values take most: between two signs of YAML or JSON is a
    value, and a Karta with its expressions takes 70 to 370 bytes for each sign.
    """
    return 2 * len(text) + sign_bytes * sum(map(text.count, _SIGNS))


def weight_of(value: JSON, sign_bytes: int = _SIGN_BYTES) -> int:
    """Return an estimate of the bytes that a decoded value takes, with a definition that is read from it."""
    try:
        return weight(orjson.dumps(value), sign_bytes)
    except orjson.JSONEncodeError:  # more than 254 levels, or a number with more than 64 bits
        return _NESTED_BYTES * len(marshal.dumps(value))


class Budget:
    """Counts the weight of definitions up to ``most``. Threads share it.

    A text without room is refused, and the previous text of its source still counts.
    """

    keeps_previous: Final = True
    """Whether the previous text of a source stays in use while the present one has no room."""

    def __init__(self, most: int = sys.maxsize) -> None:
        self.most = most
        self.held = 0
        self.refused: dict[Hashable, int] = {}
        """Sources with a present text that found no room, and its size."""
        self._sources: dict[Hashable, int] = {}
        self._lock = threading.Lock()

    @classmethod
    def of_container(cls) -> Self:
        """Return the budget of a process of a server."""
        return cls(min(container_memory() // 8, MOST))

    @property
    def reason(self) -> str:
        """Why a text is refused, and what to do."""
        return (
            f"together with it all definitions would take more than {self.most // _MIB} MiB; "
            "remove definitions, or give the container more memory"
        )

    def has_room(self, source: Hashable, size: int | None = None) -> bool:
        """Return whether there is room for the new text of a source, by default for the one that was refused."""
        return (self.refused.get(source, 0) if size is None else size) <= self._room(source)

    def has_room_again(self, collection: str) -> bool:
        """Return whether there is room for an object of a collection that was refused."""
        return any(
            isinstance(source, tuple) and source[0] == collection for source in self.refused if self.has_room(source)
        )

    def begin_list(self, collection: str) -> None:
        """Note that a collection is listed: nothing changes, since each source that is refused is remembered."""

    def end_list(self, collection: str) -> None:
        """Note that a list of a collection has ended."""

    def take(self, source: Hashable, size: int, giving_way: Iterable[Source] = ()) -> Sequence[Source] | None:
        """Count the present text of a source, or its previous one if larger. Return None if there is no room for it.

        Otherwise return the first of the sources that are ``giving_way``, as many as it takes: they are refused.
        """
        with self._lock:
            room = self._room(source)
            leaving: list[Source] = []
            # Not asked without need: finding those that give way takes longer with each object.
            for other in giving_way if size > room else ():
                room += self._sources[other]
                leaving.append(other)
                if size <= room:
                    break
            if size > room:
                self._refuse(source, size)
                return None
            for other in leaving:
                self._refuse(other, self._sources[other])
                self._uncount(other)
            self.refused.pop(source, None)
            self._set(source, max(self._sources.get(source, 0), size))
            return leaving

    def settle(self, source: Hashable, size: int) -> None:
        """Count only the present text of a source: its last good version is not kept."""
        with self._lock:
            if source in self._sources:
                self._set(source, size)

    def forget(self, source: Hashable) -> None:
        """Stop counting a source."""
        with self._lock:
            self._uncount(source)
            self.refused.pop(source, None)

    def _room(self, source: Hashable) -> int:
        return self.most - self.held + self._sources.get(source, 0)

    def _refuse(self, source: Hashable, size: int) -> None:
        if source in self.refused or len(self.refused) < MOST_REFUSED:
            self.refused[source] = size

    def _uncount(self, source: Hashable) -> None:
        if source in self._sources:
            self._set(source, 0)
            del self._sources[source]

    def _set(self, source: Hashable, size: int) -> None:
        self.held += size - self._sources.get(source, 0)
        self._sources[source] = size
