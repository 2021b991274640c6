"""Where values, and the lines of texts in them, stand in a YAML or JSON text."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

from msgspec import Struct

from karta_interpreter.base.findings import Finding
from karta_interpreter.base.k8s import Path, get
from karta_interpreter.base.k8s.manifest import Document

# Line breaks of YAML 1.1. PyYAML counts lines by them.
_BREAK = re.compile("\r\n|[\n\r\u0085\u2028\u2029]")
# Anchors and tags in front of a value.
_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)*")
_CODE = re.compile(r"\S.*")


@lru_cache(2)
def split_lines(text: str) -> tuple[str, ...]:
    """Return the lines of a YAML text."""
    return tuple(_BREAK.split(text))


class Lines:
    r"""The lines of a value, such as a script, that begins at a line and a column (from 1) of a text.

    ``of_value`` has the line of the text for each line of the value. In a block that starts with ``|`` they follow one
    another. A block that starts with ``>`` is folded, and Karmada's documentation shows that form: there several lines
    of the text may make one of the value.

    >>> text = "luaScript: >\n  -- what it does\n  function F()\n    return 1\n  end\n"
    >>> lines = Lines(split_lines(text), 1, 12, "-- what it does function F()\n  return 1\nend\n")
    >>> lines.of_value
    (2, 4, 5, 6)
    """

    def __init__(self, source: Sequence[str], line: int, column: int, value: str) -> None:
        self._source = source
        self._value = value.split("\n")
        self._last = value.rstrip("\n").count("\n") + 1
        self._start = line, column
        header = source[line - 1][column - 1 :] if 0 < line <= len(source) else ""
        style = _PROPERTIES.sub("", header, count=1)[:1]
        self._groups: list[Sequence[int]] = [(line,)] * len(self._value)
        if style == "|":
            self._groups = [(line + number,) for number, _ in enumerate(self._value, start=1)]
        elif style == ">":
            self._groups = self._unfold(line)
        self.of_value = tuple(group[0] for group in self._groups)

    @property
    def are_consecutive(self) -> bool:
        """Whether the lines of the value are consecutive lines of the text."""
        return self.of_value == tuple(range(self.of_value[0], self.of_value[0] + len(self.of_value)))

    def place(self, number: int, search: Callable[[str], re.Match[str] | None] = _CODE.search) -> tuple[int, int]:
        """Return line and column of what a search finds in a line of the value, by default its first character.

        Without it, it is the start of the value.
        """
        for line in self._groups[number - 1] if 0 < number <= len(self._groups) else ():
            match = search(self._source[line - 1])
            if match and line != self._start[0]:
                return line, match.start() + 1
        return self._start

    def at(self, number: int, column: int) -> tuple[int, int]:
        """Return line and column of a character of the text. Behind the last line it is the end of that line.

        In a folded block it is the start of a line, and for a string in quotes with several lines the start of the
        string.
        """
        if number > self._last:
            number, column = self._last, len(self._value[self._last - 1]) + 1
        line, start = self._groups[number - 1][0], self._start
        if line != start[0]:
            return line, self._indentation(start[0]) + (column if len(self._groups[number - 1]) == 1 else 1)
        if self._last > 1:
            return start
        is_quoted = self._source[line - 1][start[1] - 1 : start[1]] in ("'", '"')
        return line, start[1] + is_quoted + column - 1

    def _unfold(self, header: int) -> list[Sequence[int]]:
        """Take lines of the text for each line of the script until they are as long as it is."""
        source = self._source
        at = header  # an index, so the line after the header
        indentation = self._indentation(at)
        groups: list[Sequence[int]] = []
        for text in self._value:
            if text.strip():
                while at < len(source) and not source[at].strip():
                    at += 1
                first, length = at, -1
                while at < len(source) and length < len(text):
                    length += 1 + len(source[at][indentation:])
                    at += 1
                groups.append(range(first + 1, at + 1) or (header,))
            else:
                groups.append((min(at + 1, len(source)),))
        return groups

    def _indentation(self, at: int) -> int:
        following = next((line for line in self._source[at:] if line.strip()), "")
        return _indent(following) - _indent(next((line for line in self._value if line.strip()), ""))


_lines = lru_cache(1)(Lines)  # of a text that has many findings


class SourcePosition(Struct, frozen=True):
    """A value of a document, ``at`` a path in it, and the lines of the text."""

    document: Document
    at: Path
    lines: tuple[str, ...]

    @property
    def source(self) -> str:
        """The name of the text."""
        return self.document.source

    @property
    def line(self) -> int:
        """The line on which the value begins."""
        return self.document.position(self.at)[0]

    def lines_of(self, path: Path, text: str) -> Lines:
        """Return the lines of a text that is the value at a path below."""
        line, column = self.document.position((*self.at, *path))
        return Lines(self.lines, line, column, text)

    def locate(self, finding: Finding) -> Finding:
        """Return the finding with its source, and with its line and column unless it has them."""
        if finding.line:
            return replace(finding, source=self.source)
        path = (*self.at, *finding.path)
        line, column = self.document.position(path)
        # The path of a script in an annotation goes on inside of a text.
        values = (get(self.document.value, path[:length]) for length in range(len(path), len(self.at), -1))
        text = next((value for value in values if isinstance(value, str)), "")
        inside = finding.inside if any(finding.inside) else _found(finding, text)
        if any(inside):
            line, column = _lines(self.lines, line, column, text).at(*inside)
        return replace(finding, source=self.source, line=line, column=column)


def _found(finding: Finding, text: str) -> tuple[int, int]:
    """Return the position of an expression in a text, or of the part that is meant.

    (0, 0) if it starts with the text.
    """
    expression, span = finding.expression, finding.span
    # Most expressions are all of their text, and a large one makes a large pattern.
    pattern = "" if expression == text else rf"(?<!\w){re.escape(expression)}(?![\w.\[])"
    whole = re.search(pattern, text) if expression else None
    if whole:
        offset = whole.start() + (span.start if span and "\n" in expression[: span.start] else 0)
        return position_in(text, offset) if offset or "\n" in text else (0, 0)
    # YAML has folded or indented an expression of several lines. The wrong part of it is often one word.
    match = re.search(rf"(?<!\w){re.escape(expression[span.start : span.end])}(?!\w)", text) if span else None
    return position_in(text, match.start()) if match else (0, 0)


def position_in(text: str, offset: int) -> tuple[int, int]:
    """Return line and column, from 1, of a character of a text."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
