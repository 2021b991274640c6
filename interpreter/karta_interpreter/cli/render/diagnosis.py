"""A diagnosis as a table, and as JSON."""

from collections.abc import Iterator, Sequence

import click

from karta_interpreter.cli.render.table import count, table
from karta_interpreter.doctor import Level, Result
from karta_interpreter.k8s.values import JSON

_COLOURS = {Level.OK: "green", Level.WARNING: "yellow", Level.PROBLEM: "red"}
_HEADER = ("LEVEL", "CHECK", "FOUND")


def diagnosis_text(results: Sequence[Result]) -> str:
    """One line per result, and below it what to do, where something has to be done."""
    return table([row for result in results for row in _rows(result)], header=_HEADER)


def diagnosis_json(results: Sequence[Result]) -> JSON:
    """The results and how many there are of each level, for machines."""
    return {
        "results": [
            {"level": str(result.level), "check": result.check, "found": result.found, "advice": result.advice}
            for result in results
        ],
        "summary": {str(level): _number(results, level) for level in Level},
    }


def summary(results: Sequence[Result]) -> str:
    """How many results there are of each level.

    >>> summary([Result(Level.OK, "call", "fine"), Result(Level.PROBLEM, "tls", "none", "serve HTTPS")])
    '1 ok, 0 warnings, 1 problem'
    """
    fine, *others = (_number(results, level) for level in Level)
    counts = (count(number, level) for number, level in zip(others, list(Level)[1:], strict=True))
    return ", ".join([f"{fine} ok", *counts])


def _rows(result: Result) -> Iterator[Sequence[str]]:
    level = click.style(str(result.level), fg=_COLOURS[result.level], bold=result.level is not Level.OK)
    yield level, result.check, _one_line(result.found)
    if result.advice:
        yield "", "", f"→ {_one_line(result.advice)}"


def _number(results: Sequence[Result], level: Level) -> int:
    return sum(result.level is level for result in results)


def _one_line(text: str) -> str:
    """Texts of other programs may have several lines."""
    return " ".join(text.split())
