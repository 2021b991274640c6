"""What is wrong, or looks wrong, in a definition, and hints for a name that does not exist."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from functools import partial
from itertools import islice
from typing import Final

from msgspec import Struct

from karta_interpreter.base.errors import InterpreterError
from karta_interpreter.base.k8s import Object, Path, field_path

# The most names in a sentence.
_NAMED: Final = 4

# How a user gives each text, for messages: by options of commands, or in a process of the console by its editors.
PLACES: Final = {
    "object": "with `--object`; beside a Karta its place is `testdata/objects/`",
    "references": "with --reference-file or with_references",
    "crd": "with `validate --crd`",
    "suite": "`test FOLDER` runs it if a folder testdata has it",
    "cases": "name the folder that has a definition and, beside it, a folder testdata",
    "draft": "`create suite --object FILE` drafts cases",
    "overrides": "customizations are served from the folders that --overrides names",
    "kubeconfig": "with --kubeconfig",
}


class Severity(StrEnum):
    """How bad a finding is: a definition with an error is not used, one with warnings is."""

    ERROR = "error"
    WARNING = "warning"


class Span(Struct, frozen=True, gc=False):
    """A half-open range of offsets into the text of an expression."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to look at in a definition."""

    severity: Severity
    rule: str
    path: Path
    """The place, relative to the Karta object."""
    message: str
    hint: str = ""
    source: str = ""
    line: int = 0
    """The line of the document the finding is about, counted from 1. 0 if unknown."""
    column: int = 0
    expression: str = ""
    span: Span | None = None
    """The part of ``expression`` that is meant."""
    inside: tuple[int, int] = (0, 0)
    """Line and column in the text at ``path``, or in the text that it leads into. (0, 0) means the whole value."""

    def __str__(self) -> str:
        hint = f" ({self.hint})" if self.hint else ""
        return escaped(f"{self.severity}: {self.message_at_path}{hint} [{self.rule}]")

    @property
    def message_at_path(self) -> str:
        """The message, after its path if there is one."""
        return f"{format_path(self.path)}: {self.message}" if self.path else self.message

    @property
    def location(self) -> str:
        """The source with line and column, as editors follow it, and a space. Empty without a source."""
        return f"{self.source}:{f'{self.line}:{self.column}:' if self.line else ''} " if self.source else ""

    def to_json(self) -> Object:
        """Return the finding for machines. The path is text, ``span`` has offsets into the expression."""
        names = ("source", "line", "column", "rule", "message", "hint", "expression")
        span = self.span and {"start": self.span.start, "end": self.span.end}
        fields = {name: getattr(self, name) for name in names}
        return {**fields, "severity": str(self.severity), "path": format_path(self.path), "span": span}


class DefinitionError(InterpreterError):
    """A Karta that cannot be used. ``findings`` lists all of its errors."""

    def __init__(self, message: str, findings: Sequence[Finding] = ()) -> None:
        super().__init__(message)
        self.findings = tuple(findings)


error = partial(Finding, Severity.ERROR)
warning = partial(Finding, Severity.WARNING)


def errors_first(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings with the errors first, each in its order, for lists that are cut off.

    >>> [finding.rule for finding in errors_first([warning("a", (), ""), error("b", (), ""), error("c", (), "")])]
    ['b', 'c', 'a']
    """
    return sorted(findings, key=lambda finding: finding.severity)


def in_one_line(finding: Finding) -> str:
    """Return ``file:line:column: severity [rule] path: message (hint: …)``, without control characters.

    >>> in_one_line(warning("shadowed-kind", (), "x hides y", source="y.yaml", line=3, column=1))
    'y.yaml:3:1: warning [shadowed-kind] x hides y'
    """
    hint = f" (hint: {finding.hint})" if finding.hint else ""
    return escaped(f"{finding.location}{finding.severity} [{finding.rule}] {finding.message_at_path}{hint}")


def format_path(path: Path) -> str:
    """Return the path as text, the way a reader would write it, or "" for the Karta itself.

    >>> format_path(("spec", "structureDefinition", "childComponents", 0, "name"))
    'spec.structureDefinition.childComponents[0].name'
    """
    return field_path(path) if path else ""


def escaped(text: str, keep: str = "") -> str:
    r"""Return a text with its control characters and line breaks as escapes, except those in ``keep``.

    Names and messages from files and clusters may hold them. Printed as they are, they forge lines and steer terminals.

    >>> print(escaped("gr\u00fcn \x1b[2J\n"))
    grün \x1b[2J\n
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or character in keep else character.encode("unicode_escape").decode()
        for character in text
    )


def count(number: int, noun: str) -> str:
    """Return a number and its noun.

    >>> count(1, "pod"), count(0, "warning")
    ('1 pod', '0 warnings')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def with_article(kind: object) -> str:
    """Return the name of a kind with "a" or "an" before it.

    >>> with_article("Pod"), with_article("AppWrapper")
    ('a Pod', 'an AppWrapper')
    """
    return f"an {kind}" if str(kind).startswith(("A", "E", "I", "O")) else f"a {kind}"


BY_TYPES: Final = {
    **dict.fromkeys((("a string", "a number"), ("a string", "a boolean")), "write it in quotes"),
    **dict.fromkeys(
        (("a string", "a list"), ("a string", "an object"), ("a string", "null")),
        "write one text, in quotes if it begins with [ or {",
    ),
    ("a list", "an object"): "write the entry after a dash, as the only one of a list",
    ("an object", "a list"): "write one object, without a dash",
    ("a boolean", "a string"): "write true or false, without quotes",
    ("a number", "a string"): "write it without quotes",
}
"""How a value is written, by the expected type and its own."""

SEVERAL_NAMES: Final = "write {} in front of each name, or spaces between names in its variable"

_ALIKE = 0.71
_ALIKE_WORDS = 0.6  # of three letters, two may have changed places
_ALMOST_EQUAL = 0.9
_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_LONGEST_NAME = 100
_COMPARED = 20
_MOST_KNOWN = 500
_LONGEST_LIST = 500


def listed(names: Iterable[object]) -> str:
    """Return names for a sentence: the first four, and the number of the others.

    >>> listed(["a", "b"]), listed("abcdefg")
    ('a, b', 'a, b, c, d and 3 more')
    >>> listed(["v1, Kind=Pod", "batch/v1, Kind=Job"])
    'v1, Kind=Pod; batch/v1, Kind=Job'
    """
    texts = list(map(str, names))
    more = f" and {len(texts) - _NAMED} more" if len(texts) > _NAMED else ""
    separator = "; " if any("," in text for text in texts) else ", "
    return separator.join(texts[:_NAMED]) + more


def closest(name: str, known: Iterable[str]) -> str:
    """Return the known name that differs from an unknown one by typos, or "" if there is none.

    Only the first 100 characters of names and the first 500 known names are compared.

    >>> closest("replicaPath", ["replicasPath", "minReplicasPath"]), closest("superUser", ["superuser"])
    ('replicasPath', 'superuser')
    >>> closest("colour", ["name", "kind"]), closest("podAffinity", ["nodeAffinity"])
    ('', '')
    """
    # To difflib `kind` and `Kind` differ in a letter, as two words do. To a person they do not.
    by_lower = {other[:_LONGEST_NAME].lower(): other for other in islice(known, _MOST_KNOWN)}
    for match in get_close_matches(name[:_LONGEST_NAME].lower(), by_lower, cutoff=_ALIKE):
        if _is_typo(name[:_LONGEST_NAME], by_lower[match][:_LONGEST_NAME]):
            return by_lower[match]
    return ""


def _is_typo(name: str, other: str) -> bool:
    """Return whether similar names differ by typos within words. `podAffinity` is not a typo of `nodeAffinity`."""
    words, other_words = _WORD.findall(name), _WORD.findall(other)
    if len(words) != len(other_words) or get_close_matches(name, (other,), cutoff=_ALMOST_EQUAL):
        return True
    for word, other_word in zip(words, other_words, strict=True):
        if not get_close_matches(word.lower(), (other_word.lower(),), cutoff=_ALIKE_WORDS):
            return False
    return True


def did_you_mean(name: str, known: Iterable[str], otherwise: str | None = None) -> str:
    """Return a hint for a name that does not exist: the closest one, or else all of them, or ``otherwise``.

    A long list of names is cut off.

    >>> did_you_mean("wroker", ["head", "worker"])
    'did you mean worker?'
    >>> did_you_mean("driver", ["head", "worker"]), did_you_mean("driver", [])
    ('there are: head, worker', 'there are none')
    """
    known = list(known)
    suggestion = closest(name, known)
    if suggestion:
        return f"did you mean {suggestion}?"
    return _known_ones(known) if otherwise is None else otherwise


def hints(known: Iterable[str]) -> Callable[[str], str]:
    """Return `did_you_mean` for many names in a text that may be hostile, in less than quadratic time.

    Only the first 20 names are compared, with the first 500 known names. A long list is cut off.

    >>> hint = hints(["head", "worker"])
    >>> hint("wroker"), hint("driver")
    ('did you mean worker?', 'there are: head, worker')
    """
    sample = list(islice(known, _MOST_KNOWN))
    listed = _known_ones(sample)
    comparisons = iter(range(_COMPARED))  # shared by all calls of the hint, so that the count is for the whole text

    def hint(name: str) -> str:
        return did_you_mean(name, sample) if next(comparisons, None) is not None else listed

    return hint


def _known_ones(known: list[str]) -> str:
    text = f"there are: {', '.join(known)}" if known else "there are none"
    return text if len(text) <= _LONGEST_LIST else f"{text[:_LONGEST_LIST]}…"
