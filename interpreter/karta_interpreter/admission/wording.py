"""Findings in the words of an admission answer: what kubectl prints."""

from collections.abc import Iterable, Iterator, Sequence

from karta_interpreter.findings import Finding, Severity, format_path

_MAX_WARNING = 120
"""Characters that Kubernetes recommends for a warning (``k8s.io/api/admission/v1``)."""
_MAX_WARNINGS = 30
"""Their sum stays below the 4096 characters that an API server passes on."""
_MAX_MESSAGE = 32_768


def refusal(kind: str, name: str, findings: Iterable[Finding]) -> str:
    """Why an object is not stored: one line that sums up, and one for each error.

    A message that would be too long for an answer names as many as fit.
    """
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    many = "1 error" if len(errors) == 1 else f"{len(errors)} errors"
    lines = [f'{kind} "{name}" cannot be used: {many}']
    length = len(lines[0])
    for number, finding in enumerate(errors):
        line = f"  {_line(finding)}"
        length += len(line) + 1
        if length > _MAX_MESSAGE:
            return "\n".join([*lines, f"  and {len(errors) - number} more; karta-interpreter validate shows them all"])
        lines.append(line)
    return "\n".join(lines)


def warnings_of(findings: Sequence[Finding]) -> tuple[str, ...]:
    """The findings as warnings, each on one line and no longer than Kubernetes wants it."""
    shown = tuple(_warning(finding) for finding in findings[:_MAX_WARNINGS])
    if len(findings) <= _MAX_WARNINGS:
        return shown
    more = len(findings) - _MAX_WARNINGS
    return (*shown, f"{more} more warnings; karta-interpreter validate shows them all")


def _line(finding: Finding) -> str:
    hint = f" ({finding.hint})" if finding.hint else ""
    return _one_line(_placed(format_path(finding.path), f"{finding.message}{hint} [{finding.rule}]"))


def _warning(finding: Finding) -> str:
    """As much of a finding as there is room for: first its hint goes, then the outer part of its path, then words."""
    lines = list(_ever_shorter(finding))
    return next((line for line in lines if len(line) <= _MAX_WARNING), _cut(lines[-1]))


def _ever_shorter(finding: Finding) -> Iterator[str]:
    path, message = finding.path, _one_line(finding.message)
    if finding.hint:
        yield _placed(format_path(path), f"{message} ({_one_line(finding.hint)})")
    yield _placed(format_path(path), message)
    for start, step in enumerate(path):
        if start and isinstance(step, str):
            yield _placed(f"…{format_path(path[start:])}", message)


def _placed(where: str, text: str) -> str:
    return f"{where}: {text}" if where else text


def _cut(line: str) -> str:
    """The line up to the last word that fits."""
    head, _, _ = line[: _MAX_WARNING - 1].rpartition(" ")
    return f"{head or line[: _MAX_WARNING - 1]}…"


def _one_line(text: str) -> str:
    """Return the text on one line and fit for UTF-8, which has no half surrogate pairs."""
    return " ".join(text.split()).encode(errors="replace").decode()
