"""Comments that switch off a finding: ``# karta-interpreter: ignore[rule] reason``, in Lua after ``--``."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from msgspec import Struct

from karta_interpreter.base.findings import Finding, Severity, did_you_mean, warning
from karta_interpreter.base.k8s import JSON
from karta_interpreter.base.k8s.manifest import read_objects
from karta_interpreter.base.positions import SourcePosition, split_lines

MARK = "karta-interpreter:"
"""How a comment for this program begins."""
_COMMENT = re.compile(rf"(?:#|--) *{MARK} *ignore\b(?:\[([^]]*)\])? *(.*)")
_NO_VALUE = re.compile(r"\s*(?:#|--|$)")
_CRD = "crd-"


class Ignore(Struct, frozen=True):
    """One rule of a comment in line ``written``, for the findings of line ``line``."""

    rule: str
    line: int
    written: int
    reason: str

    @property
    def is_complete(self) -> bool:
        """Whether it has a rule and a reason."""
        return bool(self.rule and self.reason)

    @property
    def of_crd(self) -> bool:
        """Whether it is for a comparison with CRDs."""
        return self.rule.startswith(_CRD)


def ignores_of(text: str) -> list[Ignore]:
    r"""Return the ignores of a text. A comment in a line of its own is about the next line with a value.

    >>> ignores_of("# karta-interpreter: ignore[no-pods, count-retained] a source\nspec: {}\n")[1]
    Ignore(rule='count-retained', line=2, written=1, reason='a source')
    """
    if MARK not in text:
        return []
    ignores: list[Ignore] = []
    waiting: list[tuple[int, re.Match[str]]] = []
    for line, content in enumerate((*split_lines(text), "end"), start=1):
        waiting += [(line, comment)] if (comment := _COMMENT.search(content)) else []
        if not _NO_VALUE.match(content):
            for written, match in waiting:
                rules = [rule.strip() for rule in (match[1] or "").split(",")]
                ignores += [Ignore(rule, line, written, match[2].strip()) for rule in rules]
            waiting = []
    return ignores


def unignored(
    findings: Iterable[Finding], ignores: Sequence[Ignore], source: str, *, crd: bool = False
) -> Iterator[Finding]:
    """Yield the findings that no comment ignores, and one for each ignore that hides nothing or has no reason.

    ``crd`` says whether the findings are those of a comparison with CRDs. An error of a definition cannot be ignored.
    """
    findings = list(findings)
    complete = {(ignore.rule, ignore.line) for ignore in ignores if ignore.is_complete and ignore.of_crd is crd}
    hidden = set[tuple[str, int]]()
    for finding in findings:
        place = finding.rule, finding.line
        if place in complete and (crd or finding.severity is Severity.WARNING):
            hidden.add(place)
        else:
            yield finding
    for ignore in ignores:
        if not ignore.is_complete:
            if not crd:
                missing = "reason" if ignore.rule else "rule"
                message = f"the ignore has no {missing}, and ignores nothing"
                yield _warning("ignore-incomplete", ignore, source, message, f"write # {MARK} ignore[RULE] REASON")
        elif (ignore.rule, ignore.line) in complete - hidden:
            message = f"there is no warning {ignore.rule} to ignore in line {ignore.line}"
            yield _warning("unused-ignore", ignore, source, message, _hint(ignore, findings))


def _hint(ignore: Ignore, findings: Sequence[Finding]) -> str:
    for finding in findings:
        if finding.rule == ignore.rule:
            return f"it is in line {finding.line}: write the comment at its end, or above it"
    rules = {finding.rule for finding in findings}
    return did_you_mean(ignore.rule, rules, "remove it; errors of a definition cannot be ignored")


def placed_objects(text: str, source: str, *kinds: str) -> list[tuple[JSON, SourcePosition, Sequence[Ignore]]]:
    """Return the objects of a text as `read_objects` does, each with its position and the ignores in it."""
    objects, lines = read_objects(text, source, *kinds), split_lines(text)
    positions = [SourcePosition(document, at, lines) for document, at, _ in objects]
    ignores: list[list[Ignore]] = [[] for _ in objects]
    starts = [position.line for position in positions]
    for ignore in ignores_of(text) if starts else ():
        ignores[max(bisect_right(starts, ignore.line) - 1, 0)].append(ignore)
    return list(zip((value for _, _, value in objects), positions, ignores, strict=True))


def _warning(rule: str, ignore: Ignore, source: str, message: str, hint: str) -> Finding:
    return replace(warning(rule, (), message, hint), source=source, line=ignore.written, column=1)
