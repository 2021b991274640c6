"""Which calls child processes answer, because calls like them have taken long in the server's own process."""

from typing import Final, TypeAlias

LONG: Final = 0.1
"""Seconds of processor time in which the event loop answers no other call."""

Key: TypeAlias = tuple[str, str]
"""The names of a definition and of an operation."""


class SlowCalls:
    """What is known of one snapshot: a later one may have other definitions of the same names.

    >>> calls, key = SlowCalls(), ("train", "Retain")
    >>> calls.add(key, 9000), calls.add(key, 9000), calls.matches(key, 4500), calls.matches(key, 4499)
    (False, True, True, False)
    """

    def __init__(self) -> None:
        self._seen: set[Key] = set()
        self._shortest: dict[Key, int] = {}

    def add(self, key: Key, size: int) -> bool:
        """Add a call that took long with a body of that size; return whether calls like it match from now on.

        The first one does not count: it may have compiled the expressions.
        """
        if key not in self._seen:
            self._seen.add(key)
            return False
        # Not shorter ones, so that one huge object does not delay the calls about all others of its kind.
        self._shortest[key] = min(size // 2, self._shortest.get(key, size))
        return True

    def matches(self, key: Key, size: int) -> bool:
        """Return whether a child process is to answer a call with a body of that size."""
        shortest = self._shortest.get(key)
        return shortest is not None and size >= shortest
