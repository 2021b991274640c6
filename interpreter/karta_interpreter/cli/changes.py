"""The two sides of ``diff`` and ``replay``, the differences between their answers to a question, and the reasons."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Final

import click

from karta_interpreter.base.findings import did_you_mean
from karta_interpreter.base.k8s import GVK, JSON, NOTHING, field_path
from karta_interpreter.cli.definitions import (
    CASE,
    DefinitionFiles,
    NoDefinition,
    interpreter_of,
    kinds_in,
    print_findings,
    read_existing,
)
from karta_interpreter.cli.files import STDIN, exists, is_path
from karta_interpreter.cli.program import Problem, UsageProblem
from karta_interpreter.cli.render import one_line, say, text_of
from karta_interpreter.definitions.karta import catalogue_kinds
from karta_interpreter.definitions.sources import SourceDefinitions, combine, find_in_catalogue
from karta_interpreter.engine.comparison.change import Change
from karta_interpreter.engine.comparison.interpreter import Interpreter
from karta_interpreter.engine.suites import SILENT, Difference

CATALOGUE: Final = "catalogue"
_EXCERPT: Final = 160


class Side:
    """What answers for each kind: files and folders in their order, then the catalogue, as `serve` has them.

    A text of a side is a path of Kartas or customizations, ``catalogue``, or a kind of the catalogue. Raises
    UsageProblem for any other.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._paths = [text for text in texts if text == STDIN or exists(text)]
        self._names = [text for text in texts if text not in self._paths]
        self._interpreters: dict[GVK, Interpreter | None] = {}
        for name in self._names:
            kinds = catalogue_kinds()
            if not any(_is_about(name, gvk) for gvk in kinds) and not is_path(name):
                hint = did_you_mean(name, sorted({CATALOGUE, *(gvk.kind for gvk in kinds)}))
                raise UsageProblem(f"error: {name} is neither a file nor a kind of the catalogue; {hint}")

    def find(self, gvk: GVK) -> Interpreter | None:
        """Return the interpreter of a kind, or None if nothing answers for it. Findings about it go to stderr once."""
        if gvk not in self._interpreters:
            self._interpreters[gvk] = None
            files = list(self._files)
            is_named = any(_is_about(name, gvk) for name in self._names)
            if is_named and (entry := find_in_catalogue(gvk)):
                files.append(DefinitionFiles(SourceDefinitions((entry,))))
            with suppress(NoDefinition):
                self._interpreters[gvk] = interpreter_of(gvk, files)
        return self._interpreters[gvk]

    def kinds(self) -> list[GVK]:
        """Return the kinds for which something may answer."""
        in_files = {gvk for files in self._files for gvk in kinds_in(files)}
        return sorted(
            in_files | {gvk for gvk in catalogue_kinds() if any(_is_about(name, gvk) for name in self._names)}
        )

    @cached_property
    def _files(self) -> list[DefinitionFiles]:
        files = read_existing(self._paths)
        for path, read in zip(self._paths, files, strict=True):
            if not (read.layer.entries or read.customizations):
                if {finding.message for broken in read.layer.quarantined for finding in broken.findings} == {CASE}:
                    raise Problem(
                        f"error: {path}: these are suites; give a Karta or its scripts here, and suites as FILE"
                    )
                print_findings(combine([read.layer]))
                raise Problem(f"error: {path}: there is no definition in it that can be used")
        return files


def _is_about(name: str, gvk: GVK) -> bool:
    return name.lower() in (CATALOGUE, *gvk.names)


def print_changes(
    text: str, warnings: Iterable[str], questions: str, changes: Iterable[Change], different: int, *, compared: bool
) -> None:
    """Print the text of changes, and to stderr the warnings and the numbers.

    Ends the command if answers are ``different``, or if no question was ``compared``.
    """
    say(text, nl=False)
    for warning in warnings:
        say(one_line(f"warning: {warning}"), err=True)
    outcome = f"{different} answers differ"
    if not compared:
        outcome = "nothing was compared"
    elif different == 1:
        outcome = "1 answer differs"
    if known := sum("known" in change.reasons for change in changes):
        outcome += f", {known} with a known reason"
    say(f"{questions}: {outcome}", err=True)
    if different or not compared:
        raise SystemExit(Problem.exit_code)


def changes_text(changes: Iterable[Change], *, full: bool) -> str:
    """Return each change with its reasons. A known reason that a kind has already is not said again."""
    told, text = set[tuple[GVK, str]](), ""
    for change in changes:
        title = click.style(f"{change.source}:{change.line}: ", bold=True) if change.source else ""
        title += f"{change.gvk.kind} {change.name}"
        if change.cluster:
            title += f" in {change.cluster}"
        if change.operation:
            title += f": {change.operation}"
        if change.today:
            title += f", today by {change.today}"
        lines = [title, *difference_lines(change.differences, full=full)]
        for name, reason in change.reasons.items():
            is_told = name == "known" and (change.gvk, reason) in told
            lines.append(f"  {name}: {'the reason above' if is_told else reason}")
            told.add((change.gvk, reason))
        text += text_of(lines) + "\n"
    return text


def difference_lines(changed: Sequence[Difference], *, full: bool) -> Iterator[str]:
    """Yield the lines that show the places, or one line for an operation that only one side answers."""
    # Below a path, the mark of an operation that one side does not answer is a text of the answers.
    if any(not difference.path and SILENT in difference[1:] for difference in changed):
        if changed[0].expected == SILENT:
            yield click.style("  answered now", fg="green")
        else:
            yield click.style("  no longer answered", fg="red")
        return
    for difference in changed:
        if difference.path:
            yield f"  {field_path(difference.path)}"
        for sign, colour, value in (("-", "red", difference.expected), ("+", "green", difference.actual)):
            if value is not NOTHING:
                # An error has no path.
                is_error = isinstance(value, str) and not difference.path
                shown = value if is_error else _shown(value, full=full)
                yield click.style(f"  {sign} {one_line(shown)}", fg=colour)


def _shown(value: JSON, *, full: bool) -> str:
    # A text in an answer has quotes, so that "3" is not the number, and "" is seen.
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    if full or len(text) <= _EXCERPT:
        return text
    return f"{text[:_EXCERPT]}… ({len(text)} characters: --full)"
