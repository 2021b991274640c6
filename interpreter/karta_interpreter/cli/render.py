"""The output of commands: the one writer to stdout and stderr, tables, YAML and JSON, findings, and progress."""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

import click

from karta_interpreter.base.findings import Finding, Severity, Span, escaped, format_path
from karta_interpreter.base.k8s import JSON

# The output of `click.style` for the colours and the bold text of this program.
_STYLE = re.compile(r"(\x1b\[(?:[01]|3[0-7]|22)m)")
# A line that GitHub would take for a command. Its runner takes the older form anywhere in a line.
_WORKFLOW_COMMAND = re.compile(r"^([^\S\n]*+(?:\x1b\[\d+m[^\S\n]*+)*+)::", re.MULTILINE)
_OLDER_COMMAND = "##["


class Data(str):
    """Text for machines. It is written unchanged."""

    __slots__ = ()


def one_line(text: str, keep: str = "") -> str:
    r"""Return a text as one line. Invisible characters are escaped, except colours and the characters to keep.

    >>> print(one_line("a\nb\x1b[2J"))
    a\nb\x1b[2J
    """
    return "".join(
        segment if position % 2 else escaped(segment, keep) for position, segment in enumerate(_STYLE.split(text))
    )


def plain(text: str) -> str:
    r"""Return text for people: nothing in it acts on a terminal or on GitHub's log. Colours, tabs and lines stay.

    >>> print(plain("a\n ::error::x\x1b[2J\u202e, ##[add-mask]x"))
    a
     \::error::x\x1b[2J\u202e, #\#[add-mask]x
    """
    lines = one_line(text, "\t\n").replace(_OLDER_COMMAND, r"#\#[")
    return _WORKFLOW_COMMAND.sub(r"\1\\::", lines)


def say(text: object, *, err: bool = False, nl: bool = True) -> None:
    """Write to stdout or stderr: `Data` as it is, anything else as `plain` text."""
    click.echo(text if isinstance(text, Data) else plain(str(text)), err=err, nl=nl)


def table(rows: Sequence[Sequence[str]], *, header: Sequence[str] = ()) -> str:
    """Return the rows with aligned columns. Every line ends in a newline. Colours do not count as width.

    >>> print(table([["a", "long"], ["bb", "x"]], header=["K", "V"]), end="")
    K   V
    a   long
    bb  x
    """
    lines = [*([header] if header else []), *([one_line(cell) for cell in row] for row in rows)]
    widths = [max(len(click.unstyle(cell)) for cell in column) for column in zip(*lines, strict=True)]
    padded = (
        "  ".join(cell + " " * (width - len(click.unstyle(cell))) for cell, width in zip(cells, widths, strict=True))
        for cells in lines
    )
    return "".join(f"{line.rstrip()}\n" for line in padded)


def to_json(value: JSON) -> Data:
    """Return the value as indented JSON, its keys sorted."""
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False).replace(_OLDER_COMMAND, r"#\u0023[")
    return Data(text + "\n")


def written(value: JSON, form: str) -> Data:
    """Return the value as JSON or YAML, as ``form`` names it on the command line."""
    from karta_interpreter.base.k8s.yaml_writer import to_yaml  # noqa: PLC0415 - the list of commands writes no YAML

    return to_json(value) if form == "json" else Data(to_yaml(value))


_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow"}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_MARGIN = "    "
_WIDTH = 92  # of an expression: with the margin it fits into a hundred columns


def findings_text(findings: Iterable[Finding]) -> str:
    """Return each finding as ``file:line:column: severity [rule] path: message``, in the order of the places.

    Below it are the expression with the place underlined (if the finding is about one) and the advice. Findings of one
    file that say the same about the same text are printed once, with the other places below.
    """
    by_text = dict[tuple[str, ...], list[Finding]]()
    for finding in in_order(findings):
        said = (finding.source, str(finding.severity), finding.rule, finding.message, *_below(finding))
        by_text.setdefault(said, []).append(finding)
    lines: list[str] = []
    for first, *others in by_text.values():
        severity = click.style(str(first.severity), fg=_COLOURS[first.severity], bold=True)
        location = click.style(first.location, bold=True) if first.location else ""
        lines.append(f"{location}{severity} [{first.rule}] {first.message_at_path}")
        lines += _below(first)
        places = [(each.location + format_path(each.path)).rstrip(": ") for each in (first, *others)]
        lines += [f"{_MARGIN}also: {place}" for place in dict.fromkeys(places) if place != places[0]]
    return text_of(lines)


def text_of(lines: Iterable[str]) -> str:
    """Return lines as text, each in one line."""
    return "".join(f"{one_line(line)}\n" for line in lines)


def _below(finding: Finding) -> list[str]:
    lines: list[str] = []
    if finding.expression and finding.span:
        lines += _underlined(finding.expression, finding.span)
    if finding.hint:
        lines.append(f"{_MARGIN}hint: {finding.hint}")
    return lines


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings in the order of their files and lines."""
    return sorted(findings, key=lambda finding: (finding.source, finding.line, finding.column))


def _underlined(expression: str, span: Span) -> list[str]:
    """Return the line of the expression that the span begins in, and carets under the span."""
    begin = expression.rfind("\n", 0, span.start) + 1
    # One character for each, so that the carets are below the right ones.
    line = _CONTROL.sub("\ufffd", expression[begin:].split("\n", 1)[0].replace("\t", " "))
    start = min(span.start - begin, len(line))
    length = max(1, min(span.end - span.start, len(line) - start))
    cut = max(0, start + min(length, _WIDTH // 2) - _WIDTH)
    shown = line[cut : cut + _WIDTH]
    carets = "^" * min(length, max(1, len(shown) - (start - cut)))
    return [_MARGIN + shown, _MARGIN + " " * (start - cut) + click.style(carets, fg="green")]


Item = TypeVar("Item")


def watched(items: Sequence[Item], label: str) -> Iterator[Item]:
    """Yield the items. On a terminal a bar on stderr shows how many are done."""
    hidden = not sys.stderr.isatty()
    with click.progressbar(items, label=label, file=sys.stderr, show_pos=True, hidden=hidden) as bar:
        yield from bar
