"""The operations that a user lets be registered, for all kinds and for some: adoption in steps."""

from collections.abc import Collection, Iterable
from typing import Final, Self

from msgspec import Struct

from karta_interpreter.base.errors import SettingsError
from karta_interpreter.base.findings import did_you_mean
from karta_interpreter.base.k8s import GVK
from karta_interpreter.base.karmada import Operation
from karta_interpreter.definitions.sources import Selection

_NEEDS: Final = {
    Operation.INTERPRET_REPLICA: Operation.REVISE_REPLICA,
    Operation.REVISE_REPLICA: Operation.INTERPRET_REPLICA,
    Operation.INTERPRET_STATUS: Operation.AGGREGATE_STATUS,
}
"""Operations that do not go without another one (`karta_interpreter.engine.registered.pairs`)."""


class Choice(Struct, frozen=True):
    """Operations for all kinds, and further ones for the kinds with a name. Without any, all operations."""

    everywhere: frozenset[str] = frozenset()
    by_name: tuple[tuple[Selection, frozenset[str]], ...] = ()

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        """Read texts such as ``InterpretHealth,Retain`` and ``JobSet=InterpretReplica,ReviseReplica``.

        Raises SettingsError for a word that is not an operation, and for a half of a pair.

        >>> choice = Choice.of(["InterpretHealth", "JobSet=InterpretReplica,ReviseReplica"])
        >>> choice.allows(GVK("jobset.x-k8s.io", "v1alpha2", "JobSet"), "ReviseReplica")
        True
        """
        everywhere, by_name = set[str](), list[tuple[Selection, frozenset[str]]]()
        for text in texts:
            kind, separator, names = text.rpartition("=")
            operations = frozenset[str](_operation(name.strip(), text) for name in names.split(","))
            if separator:
                by_name.append((Selection((kind.strip(),)), operations))
            else:
                everywhere |= operations
        choice = cls(frozenset(everywhere), tuple(by_name))
        for _, further in ((None, frozenset[str]()), *by_name):
            _check(choice.everywhere | further)
        return choice

    def allows(self, gvk: GVK, operation: str) -> bool:
        """Return whether an operation of a kind may be registered."""
        if self == EVERYTHING:
            return True
        named = (operations for selection, operations in self.by_name if selection.takes(gvk))
        return operation in self.everywhere.union(*named)


EVERYTHING: Final = Choice()


def _operation(name: str, text: str) -> Operation:
    if name in [*Operation]:
        return Operation(name)
    raise SettingsError(f'--operations "{text}": there is no operation {name}; {did_you_mean(name, [*Operation])}')


def _check(operations: Collection[str]) -> None:
    for operation, needed in _NEEDS.items():
        if operation in operations and needed not in operations:
            raise SettingsError(f"--operations: {operation} does not go without {needed}: give both, or none")
