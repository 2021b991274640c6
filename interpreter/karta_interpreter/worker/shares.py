"""How much of something each of its users may have at a time."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager


class Shares:
    """At most ``each`` shares for every owner, in any number of threads.

    Where there are more of a thing than one owner may have, nobody keeps it from all others.
    """

    def __init__(self, each: int) -> None:
        self._each = each
        self._taken: Counter[str] = Counter()
        self._returned = threading.Condition()

    @contextmanager
    def share(self, owner: str, seconds: float) -> Iterator[None]:
        """One of the owner's shares for a block; raises TimeoutError when it has all of them for so many seconds."""
        with self._returned:
            if not self._returned.wait_for(lambda: self._taken[owner] < self._each, seconds):
                raise TimeoutError
            self._taken[owner] += 1
        try:
            yield
        finally:
            with self._returned:
                self._taken[owner] -= 1
                self._taken += Counter()  # without those that have none
                self._returned.notify_all()
