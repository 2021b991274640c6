"""Who may use one of a number of things at a time, shared fairly among owners."""

import threading
from collections import Counter
from collections.abc import Callable
from typing import Final


class Place:
    """A request of an owner for a place, and the place itself once the request is granted."""

    def __init__(self, owner: str, granted: Callable[[], object]) -> None:
        self.owner: Final = owner
        self.granted: Final = granted
        self.is_granted = False


class Places:
    """So many places, for owners that ask for one each time they need it.

    A free place goes to the waiting owner that has the fewest, and of several such owners to the one that waits
    longest; the owner that has just given the place back comes last of them. An owner that has a place gets a further
    one only if another place stays free. So beside one owner any other gets a place at once; beside
    several it waits at most until a request of an owner with several places ends.
    """

    def __init__(self, size: int) -> None:
        self._free = size
        self._used = Counter[str]()
        self._waiting: list[Place] = []
        self._lock = threading.Lock()

    def request(self, owner: str, granted: Callable[[], object]) -> Place:
        """Ask for a place; ``granted`` is called, in any thread, when the owner has it."""
        place = Place(owner, granted)
        with self._lock:
            self._waiting.append(place)
            self._grant()
        return place

    def release(self, place: Place) -> None:
        """Give a place back, or take back the request for it."""
        with self._lock:
            if place in self._waiting:
                self._waiting.remove(place)
                return
            self._free += 1
            self._used[place.owner] -= 1
            if not self._used[place.owner]:
                del self._used[place.owner]
            self._grant(place.owner)

    def _grant(self, last: str | None = None) -> None:
        while self._waiting and self._free:
            place = min(self._waiting, key=lambda waiting: (self._used[waiting.owner], waiting.owner == last))
            if self._used[place.owner] and self._free == 1:
                return
            self._waiting.remove(place)
            self._used[place.owner] += 1
            self._free -= 1
            place.is_granted = True
            place.granted()
