"""A script and the operation that it answers."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Self, TypeAlias

from msgspec import Struct

from karta_interpreter.base.k8s import JSON
from karta_interpreter.base.karmada import SLOTS

Own: TypeAlias = Mapping[str, Callable[..., tuple[JSON, ...]]]
"""The members of ``require("karta")``: functions from JSON arguments to JSON results."""


CUSTOMIZATIONS = ("spec", "customizations")
"""Where a customization has its scripts."""
COUNTS_AGREE = "karta-interpreter.io/counts-agree"
"""The annotation of a customization, or of a webhook's configuration, that says whether it counts as Kartas do."""
COUNTED_APART = (
    f'add the other script, or the annotation {COUNTS_AGREE}: "true" to the customization if both count alike'
)
"""What ends the refusal of a Karta next to a script that answers a half of the counts."""


class Script(Struct, frozen=True):
    """One Lua script.

    ``name`` is the customization's. ``line`` is the line of ``source`` on which the script begins, 0 if unknown.
    ``lines`` has one for each line of the script where they are not consecutive: YAML that starts with ``>`` is folded,
    and a JSON string is on one line. Each begins at ``column``.
    """

    operation: str
    text: str
    name: str
    source: str = ""
    line: int = 0
    lines: tuple[int, ...] = ()
    column: int = 1
    agrees: bool = False
    """Whether it counts as the Karta below it does. Its author says so, or is the author of the Karta."""

    @property
    def function(self) -> str:
        """The function that answers."""
        return SLOTS[self.operation].function

    def line_in_source(self, line: int) -> int:
        r"""Return the line of ``source`` that has a line of the script, or 0 if unknown.

        >>> Script("Retain", "function Retain(a, b)\n  return a\nend", "mine", line=11).line_in_source(2)
        12
        """
        if not self.line or not 0 < line <= self.text.count("\n") + 1:
            return 0
        return self.lines[line - 1] if self.lines else self.line + line - 1

    def line_text(self, line: int) -> str:
        r"""Return the text of a line of the script without its indentation, or "" if there is none.

        >>> Script("Retain", "function Retain(a, b)\n  return a\nend", "mine").line_text(2)
        'return a'
        """
        lines = self.text.split("\n")
        return lines[line - 1].strip() if 0 < line <= len(lines) else ""


class Scripts(tuple[Script, ...]):  # noqa: SLOT001 - its dictionary keeps computed values
    """The scripts of one kind: one for each operation, for InterpretDependency perhaps several."""

    @cached_property
    def operations(self) -> frozenset[str]:
        """The operations that have a script."""
        return frozenset(script.operation for script in self)

    def of(self, operation: str) -> tuple[Script, ...]:
        """Return the scripts that answer an operation, or none."""
        return tuple(script for script in self if script.operation == operation)

    def over(self, weaker: Self) -> "Scripts":
        """Return these scripts, and the weaker ones for the operations without a script here."""
        return Scripts((*self, *(script for script in weaker if script.operation not in self.operations)))
