"""Answers that were given to the same parts of an object before.

Karmada asks about one object again and again, mostly because its status has changed. An operation that reads no status
then reads the same parts, and has the same answer.
"""

from typing import Final

from karta_interpreter.webhook.wire import Asked

_MOST_BYTES: Final = 16 * 2**20
_OVERHEAD: Final = 400
"""Bytes that an entry takes next to its texts."""


class RememberedAnswers:
    """The answers of one snapshot without their uid; the ones that were not asked for recently are forgotten.

    The texts are compared, not only their hashes. Not more than ``most`` bytes are kept.

    >>> answers = RememberedAnswers()
    >>> answers.add(("InterpretReplica", b"[1]", 0), b"one")
    >>> answers.find(("InterpretReplica", b"[1]", 0)), answers.find(("InterpretReplica", b"[1.0]", 0))
    (b'one', None)
    """

    def __init__(self, most: int = _MOST_BYTES) -> None:
        self._most = most // 2
        self._recent, self._older = dict[Asked, bytes](), dict[Asked, bytes]()
        self._size = 0

    def find(self, asked: Asked) -> bytes | None:
        """Return the answer, None where there is none."""
        answer = self._recent.get(asked)
        if answer is None and (answer := self._older.pop(asked, None)) is not None:
            self.add(asked, answer)
        return answer

    def add(self, asked: Asked, answer: bytes) -> None:
        """Remember an answer; when the recent ones take half of the memory, they become the older ones."""
        size = len(asked[1]) + len(answer) + _OVERHEAD
        if size > self._most:
            return
        self._size += size
        if self._size > self._most:
            self._older, self._recent, self._size = self._recent, {}, size
        self._recent[asked] = answer
