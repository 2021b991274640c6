"""A value that does not fit the Go type it is read as."""

from karta_interpreter.errors import LuaRunError
from karta_interpreter.k8s.values import JSON, field_path
from karta_interpreter.lua.typed.numbers import number_text
from karta_interpreter.lua.typed.requirements import Requirements

_KINDS = {dict: "object", Requirements: "object", list: "array", str: "string", bool: "bool"}


class MismatchError(LuaRunError):
    """A value that does not fit; on its way out it learns where the value stands.

    Its text is that of ``encoding/json`` with the index of every list in the path, which Go leaves out.
    """

    def __init__(self, problem: str, go_type: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.go_type = go_type
        self._struct = ""
        self._path: list[str | int] = []

    def within(self, step: str | int, struct: str = "") -> None:
        """Add an outer step to the path; the innermost struct is the one to name."""
        self._path.append(step)
        self._struct = self._struct or struct

    def __str__(self) -> str:
        path = field_path(tuple(reversed(self._path))) if self._path else ""
        if not self.go_type:
            return f"{path}: {self.problem}" if path else self.problem
        where = f"Go struct field {self._struct}.{path}".replace(".[", "[", 1) if self._struct else "Go value"
        return f"json: cannot unmarshal {self.problem} into {where} of type {self.go_type}"


def mismatch(value: JSON, go_type: str, *, exactly: bool = False) -> MismatchError:
    """The error about a value of another kind than the type takes; ``exactly`` names the number that does not fit.

    >>> str(mismatch(1.5, "int32", exactly=True))
    'json: cannot unmarshal number 1.5 into Go value of type int32'
    """
    kind = _KINDS.get(type(value))
    if kind is None:
        kind = f"number {number_text(value)}" if exactly else "number"
    return MismatchError(kind, go_type)
