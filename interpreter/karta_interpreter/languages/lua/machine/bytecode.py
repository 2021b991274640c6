"""Where a compiled script keeps another value than in Karmada, found and changed in the bytecode of Lua 5.2."""

import struct
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

# `LUAC_HEADERSIZE` of lundump.h. An instruction (lopcodes.h) has its operation in 6 bits, A in 8, C in 9 and B in 9.
_HEADER: Final = 18
_TEST, _TESTSET = 27, 28


class _Function(Struct):
    code: tuple[int, ...]
    code_at: int
    functions: "list[_Function]"
    lines: tuple[int, ...]
    locals: list[tuple[str, int, int]]

    def all(self) -> "Iterator[_Function]":
        """Yield the function and those inside of it."""
        yield self
        for function in self.functions:
            yield from function.all()

    def kept(self) -> Iterator[tuple[int, str]]:
        """Yield the instructions that set a local which keeps its value in Karmada's Lua, and the local's name.

        For ``x = f() and y`` with an existing local x, gopher-lua 1.1.1 tests the value of ``f()`` in its own register.
        If it is false, gopher-lua goes on after the assignment, and x keeps its value. It sets x in ``x = y and z``
        for another local y, in ``x = f() or y``, and if x is new.
        """
        coming, active = self.locals[::-1], list[tuple[str, int, int]]()
        for at, word in enumerate(self.code):
            if word & 63 == _TESTSET and not word >> 14 & 511:
                while coming and coming[-1][1] <= at:
                    active.append(coming.pop())
                active = [local for local in active if local[2] > at]
                if word >> 6 & 255 < len(active) <= word >> 23:
                    yield at, active[word >> 6 & 255][0]


def as_karmada_compiles(bytecode: bytes) -> bytes:
    """Return a compiled script with locals that keep their values where they do in Karmada's Lua."""
    patched = bytearray(bytecode)
    for function in _Dump(bytecode).function().all():
        for at, _ in function.kept():
            # TEST of the register that TESTSET would copy: only the assignment goes, and no instruction moves.
            struct.pack_into("=I", patched, function.code_at + 4 * at, _TEST | function.code[at] >> 23 << 6)
    return bytes(patched)


def kept_locals(bytecode: bytes) -> Iterator[tuple[str, int]]:
    """Yield name and line of the locals that keep their value, in a script that was compiled with its lines."""
    for function in _Dump(bytecode).function().all():
        yield from ((name, function.lines[at]) for at, name in function.kept())


class _Dump:
    """Reads ``string.dump`` of Lua 5.2 (``lundump.c``)."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, _HEADER

    def function(self) -> _Function:
        self._unpack("iiBBB")  # its lines, parameters and registers
        code_at, code = self._at + 4, self._array("I")
        for _ in range(self._count()):
            (kind,) = self._unpack("B")
            if kind == 4:  # noqa: PLR2004 - a string
                self._text()
            else:
                self._at += {0: 0, 1: 1, 3: 8}[kind]
        functions = [self.function() for _ in range(self._count())]
        self._array("H")  # its upvalues
        self._text()
        lines = self._array("i")
        variables = []
        for _ in range(self._count()):
            name = self._text()
            start, end = self._unpack("ii")
            variables.append((name, start, end))
        for _ in range(self._count()):
            self._text()
        return _Function(code, code_at, functions, lines, variables)

    def _unpack(self, form: str) -> tuple[int, ...]:
        values = struct.unpack_from(f"={form}", self._data, self._at)
        self._at += struct.calcsize(f"={form}")
        return values

    def _count(self) -> int:
        return self._unpack("i")[0]

    def _array(self, form: str) -> tuple[int, ...]:
        return self._unpack(f"{self._count()}{form}")

    def _text(self) -> str:
        (size,) = self._unpack("Q")
        self._at += size
        return self._data[self._at - size : self._at - 1].decode(errors="replace") if size else ""
