"""From lines of a script to lines of the YAML or JSON text that holds it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from karta_interpreter.base.findings import Finding
from karta_interpreter.base.k8s import Path, get
from karta_interpreter.base.k8s.manifest import Document

# Line breaks of YAML 1.1. PyYAML counts lines by them.
_BREAK = re.compile("\r\n|[\n\r\u0085\u2028\u2029]")
# Anchors and tags in front of a value.
_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)*")
_COMMENT = re.compile(r"--(?!\[=*\[)")


@lru_cache(2)
def split_lines(text: str) -> tuple[str, ...]:
    """Return the lines of a YAML text."""
    return tuple(_BREAK.split(text))


def find_word(word: str, line: str) -> re.Match[str] | None:
    """Find a name in a line of Lua, or at least the last part of a library function's name.

    Without a name, find the text.

    >>> find_word("string.gsub", "return text:gsub(a, b)").span()
    (12, 16)
    """
    if not word:
        return re.search(r"\S.*", line)
    member = word.rpartition(".")[2]
    return re.search(rf"(?<![\w.:]){re.escape(word)}(?!\w)", line) or re.search(
        rf"(?<!\w){re.escape(member)}(?!\w)", line
    )


class Lines:
    r"""The lines of a script with a value that begins at a line and a column (from 1) of a text.

    ``of_script`` has the line of the text for each line of the script. In a block that starts with ``|`` they follow
    one another. A block that starts with ``>`` is folded, and Karmada's documentation shows that form: there several
    lines of the text may make one of the script.

    >>> text = "luaScript: >\n  -- what it does\n  function F()\n    return 1\n  end\n"
    >>> lines = Lines(split_lines(text), 1, 12, "-- what it does function F()\n  return 1\nend\n")
    >>> lines.of_script
    (2, 4, 5, 6)
    >>> list(lines.swallowed())
    [(3, 3, 'function F()')]
    """

    def __init__(self, source: Sequence[str], line: int, column: int, script: str) -> None:
        self._source = source
        self._script = script.split("\n")
        self._last = script.rstrip("\n").count("\n") + 1
        self._start = line, column
        header = source[line - 1][column - 1 :] if 0 < line <= len(source) else ""
        style = _PROPERTIES.sub("", header, count=1)[:1]
        self._groups: list[Sequence[int]] = [(line,)] * len(self._script)
        if style == "|":
            self._groups = [(line + number,) for number, _ in enumerate(self._script, start=1)]
        elif style == ">":
            self._groups = self._unfold(line)
        self.of_script = tuple(group[0] for group in self._groups)

    @property
    def are_consecutive(self) -> bool:
        """Whether the lines of the script are consecutive lines of the text."""
        return self.of_script == tuple(range(self.of_script[0], self.of_script[0] + len(self.of_script)))

    def place(self, number: int, word: str = "") -> tuple[int, int]:
        """Return line and column of a line of the script, or of a word in it.

        Without the word it is the start of the script.
        """
        for line in self._groups[number - 1] if 0 < number <= len(self._groups) else ():
            match = find_word(word, self._source[line - 1])
            if match and line != self._start[0]:
                return line, match.start() + 1
        return self._start

    def at(self, number: int, column: int) -> tuple[int, int]:
        """Return line and column of a character of the text. Behind the last line it is the end of that line.

        In a folded block it is the start of a line, and for a string in quotes with several lines the start of the
        string.
        """
        if number > self._last:
            number, column = self._last, len(self._script[self._last - 1]) + 1
        line, start = self._groups[number - 1][0], self._start
        if line != start[0]:
            return line, self._indentation(start[0]) + (column if len(self._groups[number - 1]) == 1 else 1)
        if self._last > 1:
            return start
        is_quoted = self._source[line - 1][start[1] - 1 : start[1]] in ("'", '"')
        return line, start[1] + is_quoted + column - 1

    def swallowed(self) -> Iterator[tuple[int, int, str]]:
        """Yield the line, the column and the text of code that folding has made a part of a comment."""
        for group in self._groups:
            if len(group) == 1:
                continue  # also every line of a JSON string, which all stand on one that may be long
            texts = [self._source[line - 1].strip() for line in group]
            comment = next((index for index, text in enumerate(texts) if _has_comment(text)), len(texts))
            for line, text in zip(group[comment + 1 :], texts[comment + 1 :], strict=True):
                if text and not text.startswith("--"):
                    yield line, _indent(self._source[line - 1]) + 1, text
                    break

    def _unfold(self, header: int) -> list[Sequence[int]]:
        """Take lines of the text for each line of the script until they are as long as it is."""
        source = self._source
        at = header  # an index, so the line after the header
        indentation = self._indentation(at)
        groups: list[Sequence[int]] = []
        for text in self._script:
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
        return _indent(following) - _indent(next((line for line in self._script if line.strip()), ""))


_lines = lru_cache(1)(Lines)  # of a text that has many findings


@dataclass(frozen=True, slots=True)
class SourcePosition:
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

    def script(self, path: Path, text: str) -> Lines:
        """Return the lines of a script that is the value at a path of the customization."""
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


def _has_comment(line: str) -> bool:
    """Return whether a line of Lua seems to end in a comment, without a look at its neighbours."""
    comment = _COMMENT.search(line)
    return comment is not None and all(line[: comment.start()].count(quote) % 2 == 0 for quote in "\"'")
