"""Explanations as text for a terminal, and as Markdown."""

import html
import shutil
from collections.abc import Iterable, Iterator
from textwrap import wrap
from typing import Final

import click

from karta_interpreter.cli.answers import short
from karta_interpreter.cli.render import one_line
from karta_interpreter.explain import Explanation, Fact, Layer, Place
from karta_interpreter.findings import escaped
from karta_interpreter.k8s.values import field_path
from karta_interpreter.k8s.yaml_writer import to_yaml

_INDENT: Final = "  "
_NARROW, _WIDE = 60, 140
_LONGEST: Final = 500
_MOST: Final = 8
"""How many places of a fact a terminal shows."""

_CHANGED: Final = ("revised", "retained", "aggregatedStatus")
"""Results that are whole objects: the facts have what changed in them."""
_COLOURS: Final = {"warning": "yellow", "matched": "green", "nearly": "magenta", "stopped": "red"}
_PREFIX: Final = "spec.structureDefinition."


def width() -> int:
    """The columns of the terminal, or of ``$COLUMNS``, within what can be read."""
    return max(_NARROW, min(_WIDE, shutil.get_terminal_size((100, 24)).columns))


def explanations_text(explanations: Iterable[Explanation], columns: int) -> str:
    """Each answer, which layer gives it, and below it the facts, no line wider than ``columns`` if it can be broken."""
    return "\n".join("".join(f"{one_line(line)}\n" for line in _lines(each, columns)) for each in explanations)


def _lines(explanation: Explanation, columns: int) -> Iterator[str]:
    yield click.style(str(explanation.call.operation), bold=True)
    for line in (*_answer(explanation), *_layers(explanation.layers)):
        yield from _wrapped(line, columns, 1)
    for fact in explanation.facts:
        label = str(fact.severity or fact.rule)
        first, *rest = _wrapped(f"{label}: {fact.note}", columns, 1)
        yield from (first.replace(label, click.style(label, fg=_COLOURS.get(label, "cyan")), 1), *rest)
        for detail in _details(fact):
            yield from _wrapped(detail, columns, 3)


def _layers(layers: Iterable[Layer]) -> Iterator[str]:
    """One line: what answers, what would come before it, and what comes without it."""
    found = {layer.name: layer.note for layer in layers if not layer.answers}
    answering = " and ".join(layer.note for layer in layers if layer.answers) or "nothing"
    yield f"by {answering}; before it {found['customization']}; without it Karmada takes {found['karmada']}"


def _wrapped(text: str, columns: int, depth: int) -> list[str]:
    indent = _INDENT * depth
    text = escaped(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")
    return wrap(
        text, columns, initial_indent=indent, subsequent_indent=f"{indent}{_INDENT}",
        break_long_words=False, break_on_hyphens=False,
    ) or [indent]  # fmt: skip


def _answer(explanation: Explanation) -> Iterator[str]:
    """The results in a line each; of a changed object what the facts show."""
    if explanation.error:
        yield f"error: {explanation.error}"
    for name, value in (explanation.results or {}).items():
        yield f"{name}: {'see below' if name in _CHANGED else short(value)}"


def _details(fact: Fact) -> Iterator[str]:
    if fact.expression or fact.rule in ("matched", "nearly"):
        yield ": ".join(filter(None, [fact.field.removeprefix(_PREFIX), " ".join(fact.expression.split())]))
    for place in fact.places[:_MOST]:
        yield place_text(place)
    if len(fact.places) > _MOST:
        yield f"and {len(fact.places) - _MOST} places more"
    if fact.rule in ("written", "retained"):
        yield f"becomes {short(fact.value)}"
    elif fact.writes:
        yield f"a new count is written to {', '.join(fact.writes)}"


def place_text(place: Place) -> str:
    """A place with its value in one line; a long value is left out.

    >>> place_text(Place(("status", "active"), 2, source="items", cluster="north"))
    'north status.active = 2'
    """
    source = place.cluster or ("" if place.source == "object" else place.source)
    value = short(place.value)
    shown = "" if isinstance(place.value, dict | list) and value.endswith("...") else f" = {value}"
    return f"{f'{source} ' if source else ''}{field_path(place.path)}{shown if place.exists else ' is not set'}"


def explanations_markdown(title: str, explanations: Iterable[Explanation]) -> str:
    """A section for each operation, with a table of the facts."""
    return "\n".join([f"# {_cell(title)}\n", *("\n".join(_section(each)) for each in explanations)])


def _section(explanation: Explanation) -> Iterator[str]:
    yield f"## {explanation.call.operation}\n"
    if explanation.error:
        yield f"Error: {_cell(explanation.error)}\n"
    shown = {name: value for name, value in (explanation.results or {}).items() if name not in _CHANGED}
    if shown:
        yield f"```yaml\n{to_yaml(shown)}```\n"
    yield from (
        f"- {'**' if each.answers else ''}{each.name}{'**' if each.answers else ''}: {_cell(each.note)}"
        for each in explanation.layers
    )
    if explanation.facts:
        yield "\n| step | what | definition | read |\n|---|---|---|---|"
        yield from (_row(fact) for fact in explanation.facts)
    yield ""


def _row(fact: Fact) -> str:
    definition = " ".join(filter(None, [fact.field.removeprefix(_PREFIX), fact.expression and _code(fact.expression)]))
    read = "<br>".join(_cell(place_text(place)) for place in fact.places[:_MOST])
    step = f"**{fact.severity}**" if fact.severity else fact.rule
    return f"| {step} | {_cell(fact.note)} | {definition if fact.expression else _cell(definition)} | {read} |"


def _cell(text: str) -> str:
    return "".join(f"\\{each}" if each in "\\|`*_<>[]#" else each for each in escaped(" ".join(text.split())))


def _code(text: str) -> str:
    written = html.escape(escaped(" ".join(text.split())), quote=False)
    return f"<code>{written.replace('|', '&#124;').replace('`', '&#96;')}</code>"


def warnings_text(warnings: Iterable[Fact]) -> str:
    """Each warning in one line, once."""
    lines = dict.fromkeys(f"{_component(fact)}{fact.note}" for fact in warnings)
    label = click.style("warning", fg="yellow", bold=True)
    return "".join(f"{label}: {escaped(line)}\n" for line in lines)


def _component(fact: Fact) -> str:
    return f"{fact.instance or fact.component}: " if fact.rule == "count-without-pods" else ""
