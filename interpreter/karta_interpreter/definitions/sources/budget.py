"""How much memory the definitions of all sources may take together, as estimated from their text."""

import sys
import threading
from collections.abc import Hashable
from typing import Final

_SIGNS: Final = (b":", b",", b"{", b"[", b"\n")
_SIGN_BYTES: Final = 256
_MIB: Final = 2**20


def weight(text: bytes) -> int:
    """Return about how many bytes a definition takes that is read from a text.

    A long text is kept with what is read from it. Small values take most: between two signs of YAML or JSON is a value,
    and a Karta with its expressions takes 70 to 370 bytes for each sign.
    """
    return 2 * len(text) + _SIGN_BYTES * sum(map(text.count, _SIGNS))


class Budget:
    """Counts the weight of definitions, of which there is at most ``most``; threads share it.

    A text that finds no room is refused, and what its source held before still counts.
    """

    def __init__(self, most: int = sys.maxsize) -> None:
        self.most = most
        self.held = 0
        self.refused: set[Hashable] = set()
        """The sources whose present text found no room."""
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
        """Return whether there is room for what a source shall hold."""
        return self.held - self._sources.get(source, 0) + size <= self.most

    def take(self, source: Hashable, size: int) -> bool:
        """Count what a source holds now, or held before if that was more; return whether there is room for it."""
        with self._lock:
            if not self.has_room(source, size):
                self.refused.add(source)
                return False
            self.refused.discard(source)
            self._set(source, max(self._sources.get(source, 0), size))
            return True

    def settle(self, source: Hashable, size: int) -> None:
        """Count only what a source holds now: its last good version is not kept."""
        with self._lock:
            self._set(source, size)

    def forget(self, source: Hashable) -> None:
        """Count a source no longer."""
        with self._lock:
            self.held -= self._sources.pop(source, 0)
            self.refused.discard(source)

    def _set(self, source: Hashable, size: int) -> None:
        self.held += size - self._sources.get(source, 0)
        self._sources[source] = size
