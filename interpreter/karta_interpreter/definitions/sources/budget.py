"""The memory that the definitions of all sources may take together, estimated from their text."""

import sys
import threading
from collections.abc import Hashable
from typing import Final

_SIGNS: Final = (b":", b",", b"{", b"[", b"\n")
_SIGN_BYTES: Final = 256
_MIB: Final = 2**20


def weight(text: bytes) -> int:
    """Return an estimate of the bytes that a definition read from a text takes.

    A long text is kept together with its definition. Small values take most: between two signs of YAML or JSON is a
    value, and a Karta with its expressions takes 70 to 370 bytes for each sign.
    """
    return 2 * len(text) + _SIGN_BYTES * sum(map(text.count, _SIGNS))


class Budget:
    """Counts the weight of definitions up to ``most``. Threads share it.

    A text without room is refused, and the previous text of its source still counts.
    """

    def __init__(self, most: int = sys.maxsize) -> None:
        self.most = most
        self.held = 0
        self.refused: set[Hashable] = set()
        """The sources with a present text that found no room."""
        self._sources: dict[Hashable, int] = {}
        self._lock = threading.Lock()

    @property
    def reason(self) -> str:
        """Why a text is refused, and what to do."""
        return (
            f"together with it all definitions would take more than {self.most // _MIB} MiB; "
            "remove definitions, or give the container more memory"
        )

    def has_room(self, source: Hashable, size: int) -> bool:
        """Return whether there is room for the new text of a source."""
        return self.held - self._sources.get(source, 0) + size <= self.most

    def take(self, source: Hashable, size: int) -> bool:
        """Count the present text of a source, or its previous one if larger. Return whether there is room for it."""
        with self._lock:
            if not self.has_room(source, size):
                self.refused.add(source)
                return False
            self.refused.discard(source)
            self._set(source, max(self._sources.get(source, 0), size))
            return True

    def settle(self, source: Hashable, size: int) -> None:
        """Count only the present text of a source: its last good version is not kept."""
        with self._lock:
            self._set(source, size)

    def forget(self, source: Hashable) -> None:
        """Stop counting a source."""
        with self._lock:
            self.held -= self._sources.pop(source, 0)
            self.refused.discard(source)

    def _set(self, source: Hashable, size: int) -> None:
        self.held += size - self._sources.get(source, 0)
        self._sources[source] = size
