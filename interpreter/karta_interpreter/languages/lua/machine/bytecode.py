"""The names that a compiled script reads, writes and calls, found in the bytecode of Lua 5.2.

The compiler knows which names are locals, so that nothing has to be parsed again here. A register is followed as long
as instructions follow one another: enough for ``os.getenv`` and for ``local kube = require("kube")``.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

# `LUAC_HEADERSIZE` of lundump.h. An instruction (lopcodes.h) has its operation in 6 bits, A in 8, C in 9 and B in 9.
_HEADER: Final = 18
_MOVE, _LOADK, _GETUPVAL, _GETTABUP, _GETTABLE, _SETTABUP, _SETTABLE, _SELF = 0, 1, 5, 6, 7, 8, 10, 12
_TEST, _TESTSET = 27, 28
_LOADNIL, _CALL, _TAILCALL, _TFORCALL, _CLOSURE, _VARARG = 4, 29, 30, 34, 37, 38
_MANY: Final = {_CALL: 0, _TAILCALL: 0, _VARARG: 0, _TFORCALL: 3}
"""The instructions that write several registers, and behind how many of their own."""
_CONSTANT: Final = 256

Known: TypeAlias = tuple[str, str | int]
"""The content of a register: ("text", it), ("global", name), ("module", name), ("function", number)."""

_ENVIRONMENT: Final[Known] = ("environment", "")


class Mention(NamedTuple):
    """A name and its line."""

    name: str
    line: int


class FunctionValue(NamedTuple):
    """A function that is the value of a global, or of a local of the script. ``is_nested`` if inside of another one."""

    name: str
    line: int
    parameters: int
    is_variadic: bool
    is_local: bool = False
    is_nested: bool = False


@dataclass(slots=True)
class Names:
    """Every name of a script, in the order of its instructions. ``locals`` has the locals of all functions, for hints.

    ``kept`` has the locals that keep their value in Karmada and get another one here.
    """

    functions: list[FunctionValue] = field(default_factory=list)
    assigned: list[Mention] = field(default_factory=list)
    read: list[Mention] = field(default_factory=list)
    methods: list[Mention] = field(default_factory=list)
    required: list[Mention] = field(default_factory=list)
    kept: list[Mention] = field(default_factory=list)
    own_members: set[str] = field(default_factory=set)
    locals: set[str] = field(default_factory=set)

    @property
    def own(self) -> set[str]:
        """The globals that the script sets."""
        return {mention.name for mention in self.assigned} | {
            function.name for function in self.functions if not function.is_local
        }


@dataclass(slots=True)
class _Function:
    line: int
    parameters: int
    is_variadic: bool
    code: tuple[int, ...]
    code_at: int
    constants: list[str | None]
    functions: "list[_Function]"
    upvalues: list[tuple[int, ...]]
    lines: tuple[int, ...]
    locals: list[tuple[str, int, int]]

    def kept(self) -> Iterator[tuple[int, str]]:
        """Yield the instructions that set a local which keeps its value in Karmada's Lua, and the local's name.

        For ``x = f() and y`` with an existing local x, gopher-lua 1.1.1 tests the value of ``f()`` in its own register.
        If it is false, gopher-lua goes on behind the assignment, and x keeps its value. It sets x in ``x = y and z``
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
    patched, functions = bytearray(bytecode), [_Dump(bytecode).function()]
    for function in functions:
        functions += function.functions
        for at, _ in function.kept():
            # TEST of the register that TESTSET would copy: only the assignment goes, and no instruction moves.
            struct.pack_into("=I", patched, function.code_at + 4 * at, _TEST | function.code[at] >> 23 << 6)
    return bytes(patched)


def names_of(bytecode: bytes) -> Names:
    """Find the names of a script that was compiled with its debug information."""
    names = Names()
    _InstructionReader(names, _Dump(bytecode).function(), (_ENVIRONMENT,)).read()
    return names


class _Dump:
    """Reads ``string.dump`` of Lua 5.2 (``lundump.c``)."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, _HEADER

    def function(self) -> _Function:
        line, _ = self._unpack("ii")
        parameters, is_variadic, _ = self._unpack("BBB")
        code_at, code = self._at + 4, self._array("I")
        constants = [self._constant() for _ in range(self._count())]
        functions = [self.function() for _ in range(self._count())]
        upvalues = [self._unpack("BB") for _ in range(self._count())]
        self._text()
        lines = self._array("i")
        variables = [self._local() for _ in range(self._count())]
        for _ in range(self._count()):
            self._text()
        return _Function(
            line, parameters, bool(is_variadic), code, code_at, constants, functions, upvalues, lines, variables
        )

    def _unpack(self, form: str) -> tuple[int, ...]:
        values = struct.unpack_from(f"={form}", self._data, self._at)
        self._at += struct.calcsize(f"={form}")
        return values

    def _count(self) -> int:
        return self._unpack("i")[0]

    def _array(self, form: str) -> tuple[int, ...]:
        count = self._count()
        return self._unpack(f"{count}{form}")

    def _text(self) -> str:
        (size,) = self._unpack("Q")
        self._at += size
        return self._data[self._at - size : self._at - 1].decode(errors="replace") if size else ""

    def _constant(self) -> str | None:
        (kind,) = self._unpack("B")
        if kind == 4:  # noqa: PLR2004 - a string
            return self._text()
        self._at += {0: 0, 1: 1, 3: 8}[kind]
        return None

    def _local(self) -> tuple[str, int, int]:
        name = self._text()
        start, end = self._unpack("ii")
        return name, start, end


class _InstructionReader:
    """Goes through the instructions of one function. ``upvalues`` holds the known content of its upvalues."""

    def __init__(
        self, names: Names, function: _Function, upvalues: tuple[Known | None, ...], *, nested: bool = False
    ) -> None:
        self._names, self._function, self._upvalues, self._is_nested = names, function, upvalues, nested
        self._registers: dict[int, Known] = {}

    def read(self) -> None:
        function = self._function
        self._names.locals.update(name for name, _, _ in function.locals)
        self._names.kept += [Mention(name, function.lines[at]) for at, name in function.kept()]
        for at, (word, line) in enumerate(zip(function.code, function.lines, strict=True)):
            self._step(word & 63, word >> 6 & 255, word >> 23, word >> 14 & 511, line)
            if word & 63 == _CLOSURE:
                self._closure(word >> 6 & 255, word >> 14, at)

    def _step(self, operation: int, a: int, b: int, c: int, line: int) -> None:
        registers = self._registers
        result: Known | None = None
        if operation == _LOADK:
            text = self._function.constants[b << 9 | c]
            result = ("text", text) if text is not None else None
        elif operation == _MOVE:
            result = registers.get(b)
        elif operation == _GETUPVAL:
            result = self._upvalues[b]
        elif operation == _GETTABUP:
            result = self._index(self._upvalues[b], self._text(c), line)
        elif operation == _GETTABLE:
            result = self._index(registers.get(b), self._text(c), line)
        elif operation == _SELF:
            self._method(registers.get(b), self._text(c), line)
        elif operation in (_SETTABUP, _SETTABLE):
            target = self._upvalues[a] if operation == _SETTABUP else registers.get(a)
            self._assign(target, self._text(b), registers.get(c), line)
            return
        elif operation in (_CALL, _TAILCALL):
            result = self._call(a, b, line)
        self._forget(operation, a, b)
        if result:
            registers[a] = result

    def _forget(self, operation: int, a: int, b: int) -> None:
        """Forget the registers that an instruction writes."""
        if operation in _MANY:
            first = a + _MANY[operation]
            for register in [register for register in self._registers if register >= first]:
                del self._registers[register]
        for register in range(a, a + b + 1 if operation == _LOADNIL else a + 2 if operation == _SELF else a + 1):
            self._registers.pop(register, None)

    def _text(self, operand: int) -> str:
        """Return the string that an operand is, or "" if it is not known."""
        if operand >= _CONSTANT:
            return self._function.constants[operand - _CONSTANT] or ""
        kind, text = self._registers.get(operand, ("", ""))
        return str(text) if kind == "text" else ""

    def _index(self, target: Known | None, name: str, line: int) -> Known | None:
        kind, holder = target or ("", "")
        if not name:
            return None
        if kind == "environment" or target == ("global", "_G"):
            self._names.read.append(Mention(name, line))
            return "global", name
        if kind in ("global", "module"):
            self._names.read.append(Mention(f"{holder}.{name}", line))
        return None

    def _method(self, target: Known | None, name: str, line: int) -> None:
        if target and target[0] in ("global", "module"):
            self._index(target, name, line)
        else:
            self._names.methods.append(Mention(name, line))

    def _assign(self, target: Known | None, name: str, value: Known | None, line: int) -> None:
        kind = target[0] if target else ""
        is_global = kind == "environment" or target == ("global", "_G")
        if is_global and name and value and value[0] == "function":
            self._define(name, self._function.functions[int(value[1])], is_nested=self._is_nested)
        elif is_global and name:
            self._names.assigned.append(Mention(name, line))
        elif (value and value[0] == "function") or kind == "global":
            self._names.own_members.add(name)

    def _call(self, a: int, arguments: int, line: int) -> Known | None:
        module = self._registers.get(a + 1)
        is_one = arguments == 2  # noqa: PLR2004 - the function and its argument
        if self._registers.get(a) == ("global", "require") and is_one and module and module[0] == "text":
            self._names.required.append(Mention(str(module[1]), line))
            return "module", module[1]
        return None

    def _closure(self, a: int, number: int, at: int) -> None:
        function = self._function.functions[number]
        self._registers[a] = ("function", number)
        name = next((name for name, start, _ in self._function.locals if start in (at, at + 1)), "")
        if name and not self._is_nested:
            self._define(name, function, is_local=True)
        upvalues = tuple(
            self._registers.get(index) if in_stack else self._upvalues[index] for in_stack, index in function.upvalues
        )
        _InstructionReader(self._names, function, upvalues, nested=True).read()

    def _define(self, name: str, function: _Function, *, is_local: bool = False, is_nested: bool = False) -> None:
        definition = FunctionValue(name, function.line, function.parameters, function.is_variadic, is_local, is_nested)
        self._names.functions.append(definition)
