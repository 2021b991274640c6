"""The documents of a file that were loaded before, known by their text: only changed ones are read and compiled."""

import re
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from karta_interpreter.base.ignores import MARK
from karta_interpreter.base.k8s.manifest import MOST_DOCUMENTS
from karta_interpreter.definitions.karta.loading import Loaded, load_documents

_Section: TypeAlias = tuple[int, bytes, str]
"""The first line, the digest and the text of a part."""
_SEPARATOR: Final = re.compile(r"^---(?=\s|\Z)", re.MULTILINE)
# A directive, or the end of a document, is about its neighbours. So may be the comment of an ignore. Other line breaks
# are counted otherwise.
_INSEPARABLE: Final = re.compile(rf"^(?:%|\.\.\.)|{MARK}|\r(?!\n)|[\u0085\u2028\u2029]", re.MULTILINE)


class _Part(Struct, frozen=True):
    """A part of a text from one separator to the next, with its first line, and the Kartas that begin in it."""

    line: int
    loaded: tuple[Loaded, ...]

    def moved_to(self, line: int) -> "_Part | None":
        """Return the part at another line, None if its Kartas name lines inside of them."""
        if line == self.line:
            return self
        if any(one.findings or one.definition is None or one.definition.scripts for one in self.loaded):
            return None
        return _Part(line, tuple(replace(one, line=one.line + line - self.line) for one in self.loaded))


class KnownDocuments:
    """Loads the text of one file, again and again, with the results of `load_documents`."""

    def __init__(self) -> None:
        self._parts: dict[bytes, _Part] = {}

    def load(self, text: str, source: str) -> list[Loaded]:
        """Return every Karta of the text. Those of unchanged parts are the earlier ones."""
        parts = _split(text)
        known = {line: part for line, digest, _ in parts if (part := self._known(digest, line))}
        loaded = _load_changed(parts, known, source) if known else None
        if loaded is None:
            loaded = load_documents(text, source)
        is_read = all(one.line for one in loaded)
        if is_read:  # else the next version of the text may have the parts of the last readable one again
            self._parts = dict(_remembered(parts, loaded))
        return loaded

    def _known(self, digest: bytes, line: int) -> _Part | None:
        part = self._parts.get(digest)
        return part and part.moved_to(line)


def _split(text: str) -> list[_Section]:
    r"""Return first line, digest and text of each part, nothing if there is one part or if parts need each other.

    >>> [(line, part) for line, _, part in _split("a: 1\n---\nb: 2\n")]
    [(1, 'a: 1\n'), (2, '---\nb: 2\n')]
    """
    starts = [0, *(match.start() for match in _SEPARATOR.finditer(text) if match.start())]
    # JSON has no separators, and what begins like JSON is read as JSON.
    is_json = text.lstrip("\ufeff \t\r\n").startswith(("{", "["))
    if not 1 < len(starts) <= MOST_DOCUMENTS or is_json or _INSEPARABLE.search(text):
        return []
    parts, line = list[_Section](), 1
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        part = text[start:end]
        parts.append((line, sha256(part.encode()).digest(), part))
        line += part.count("\n")
    return parts


def _load_changed(parts: Sequence[_Section], known: dict[int, _Part], source: str) -> list[Loaded] | None:
    """Return every Karta, with new ones of the unknown parts, None if one part cannot be read."""
    # Lines without text in place of the others, so that all places are right.
    text = "".join("\n" * part.count("\n") if line in known else part for line, _, part in parts)
    loaded = load_documents(text, source)
    if not all(one.line for one in loaded):
        return None
    for part in known.values():
        loaded += part.loaded
    return sorted(loaded, key=lambda one: one.line) if len(loaded) <= MOST_DOCUMENTS else None


def _remembered(parts: Sequence[_Section], loaded: Sequence[Loaded]) -> Iterator[tuple[bytes, _Part]]:
    """Yield the digest of each part, with its Kartas. They are in the order of the text."""
    waiting = [*reversed(loaded)]
    for number, (line, digest, _) in enumerate(parts):
        after = parts[number + 1][0] if number + 1 < len(parts) else None
        own = list[Loaded]()
        while waiting and (after is None or waiting[-1].line < after):
            own.append(waiting.pop())
        yield digest, _Part(line, tuple(own))
