"""The outcome of a check of customizations, as karmadactl prints it (``pkg/karmadactl/interpret/check.go``)."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from karta_interpreter.cli.calls import ORDER
from karta_interpreter.findings import escaped
from karta_interpreter.lua.customization import LoadedCustomization

_RULE: Final = "-" * 35
_PADDING: Final = 3


def check_text(customizations: Iterable[LoadedCustomization]) -> str:
    """One block for each customization, in it for each operation PASS, UNSET or ERROR with the first error."""
    return _Columns().text(line for each in customizations for line in _lines(each))


def _lines(customization: LoadedCustomization) -> Iterator[tuple[str, ...]]:
    yield (_RULE,)
    yield (f"SOURCE: {customization.name or customization.source}",)
    wrong = _wrong(customization)
    if wrong or customization.gvk is None:
        yield (wrong,)
        return
    yield f"TARGET: {customization.gvk.api_version} {customization.gvk.kind}", ""
    yield ("RULERS:",)
    for operation in ORDER:
        yield f"    {operation}:", *_verdict(customization, operation)


def _wrong(customization: LoadedCustomization) -> str:
    """Why there is no target, in karmadactl's words."""
    if not customization.line:
        return customization.findings[0].message
    unset = {finding.path[-1] for finding in customization.findings if finding.rule == "no-target"}
    if unset & {"kind", "target"}:
        return "target.kind no set"
    return "target.apiVersion no set" if unset else ""


def _verdict(customization: LoadedCustomization, operation: str) -> tuple[str, ...]:
    problem = customization.problem(operation)
    if problem:
        return f"ERROR: {problem.source}:{problem.line}:{problem.column}: {problem.message}", ""
    return ("PASS" if customization.scripts.of(operation) else "UNSET",)


class _Columns:
    """Go's ``tabwriter`` as kubectl sets it up.

    In lines below one another a column is as wide as its widest cell and three more, and never narrower than it was
    further up. The last cell of a line is in no column.
    """

    def __init__(self) -> None:
        self._widths: dict[int, int] = {}

    def text(self, lines: Iterable[tuple[str, ...]]) -> str:
        """The lines with their cells padded."""
        escaped_lines = (tuple(map(escaped, line)) for line in lines)
        return "".join(f"{line}\n" for line in self._padded(escaped_lines, 0))

    def _padded(self, lines: Iterable[tuple[str, ...]], column: int) -> Iterator[str]:
        for is_padded, neighbours in groupby(lines, key=lambda cells: len(cells) > column + 1):
            block = list(neighbours)
            if is_padded:
                width = max(self._widths.get(column, 0), *(len(cells[column]) + _PADDING for cells in block))
                self._widths[column] = width
                rest = self._padded(block, column + 1)
                yield from (cells[column].ljust(width) + more for cells, more in zip(block, rest, strict=True))
            else:
                yield from (cells[column] for cells in block)
