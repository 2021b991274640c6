"""What a survey of a script says."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from karta_interpreter.lua.grammar.environment import FORBIDDEN, GLOBALS, MODULES
from karta_interpreter.suggestion import closest

_MOST_GUESSES: Final = 20
_FOREIGN: Final = {
    **dict.fromkeys(("null", "NULL", "None", "none", "undefined"), "nil"),
    "True": "true",
    "False": "false",
}


@dataclass(frozen=True, slots=True)
class Mention:
    """A name and the line it stands on.

    ``inside`` is the nearest function around it that has a name, ``function`` where none has one, and "" at the top of
    the script; ``meant`` is the name that was probably meant, "" when none is alike.
    """

    name: str
    line: int
    inside: str = ""
    meant: str = ""


@dataclass(frozen=True, slots=True)
class Definition:
    """A function that is the value of a global, or of a local at the top of the script."""

    name: str
    line: int
    parameters: tuple[str, ...] = ()
    variadic: bool = False
    local: bool = False
    inside: str = ""


@dataclass(frozen=True, slots=True)
class Survey:
    """What there is to say about a script without running it, each in the order of its lines.

    ``assigned`` are globals that get a value which is no function. ``unknown`` are globals, and members of modules as
    ``os.getenv``, that are read although no environment has them and the script never sets them. ``forbidden`` are uses
    of functions that Karmada has replaced by an error, methods of strings among them. ``gotos`` are jumps, ``goto x``,
    and labels, ``::x::``. ``required`` is every module asked for by name, ``missing`` those that do not exist.
    """

    functions: tuple[Definition, ...] = ()
    assigned: tuple[Mention, ...] = ()
    unknown: tuple[Mention, ...] = ()
    forbidden: tuple[Mention, ...] = ()
    gotos: tuple[Mention, ...] = ()
    required: tuple[Mention, ...] = ()
    missing: tuple[Mention, ...] = ()

    def function(self, name: str) -> Definition | None:
        """The global function of this name once the script has run; None where the script itself defines none."""
        found = (each for each in reversed(self.functions) if each.name == name and not each.local and not each.inside)
        return next(found, None)


@dataclass(slots=True)
class Mentions:
    """Collects what is found on the way through a script; what it means is known at the end.

    ``reads`` are names that no scope has, with the locals that could be seen from there; ``members`` are names of
    modules' members, ``methods`` those of methods, and ``own`` is what the script sets, also as members.
    """

    functions: list[Definition] = field(default_factory=list)
    assigned: list[Mention] = field(default_factory=list)
    gotos: list[Mention] = field(default_factory=list)
    required: list[Mention] = field(default_factory=list)
    reads: list[tuple[Mention, frozenset[str]]] = field(default_factory=list)
    methods: list[Mention] = field(default_factory=list)
    own_members: set[str] = field(default_factory=set)

    def survey(self) -> Survey:
        """Everything found; names that the script sets itself are neither unknown nor forbidden."""
        own = {each.name for each in self.assigned} | {each.name for each in self.functions if not each.local}
        reads = [(read, near) for read, near in self.reads if not self._is_own(read.name, own)]
        forbidden = [read for read, _ in reads if read.name in FORBIDDEN]
        methods = [each for each in self.methods if not self._is_own(each.name, own)]
        unknown = _guessed([(read, near) for read, near in reads if not _exists(read.name)], own | GLOBALS)
        missing = [replace(each, meant=closest(each.name, MODULES)) for each in self.required if not _is_module(each)]
        return Survey(
            tuple(self.functions),
            _in_order(self.assigned),
            _in_order(unknown),
            _in_order([*forbidden, *methods]),
            tuple(self.gotos),
            tuple(self.required),
            tuple(missing),
        )

    def _is_own(self, name: str, own: set[str]) -> bool:
        return name in own or name.partition(".")[2] in self.own_members


def _in_order(mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    return tuple(sorted(dict.fromkeys(mentions), key=lambda mention: mention.line))


def _exists(name: str) -> bool:
    module, _, member = name.partition(".")
    return member in MODULES[module] if member else name in GLOBALS


def _is_module(required: Mention) -> bool:
    return required.name in MODULES or required.name == "_G"


def _guessed(reads: Sequence[tuple[Mention, frozenset[str]]], names: set[str]) -> list[Mention]:
    """Mentions with what was meant by the first names; nobody reads thousands of guesses, each of which takes time."""
    meant: dict[str, str] = {}
    for read, near in reads:
        if read.name not in meant:
            meant[read.name] = _guess(read.name, near | names) if len(meant) < _MOST_GUESSES else ""
    return [replace(read, meant=meant[read.name]) for read, _ in reads]


def _guess(name: str, names: frozenset[str] | set[str]) -> str:
    module, _, member = name.partition(".")
    if not member:
        return _FOREIGN.get(module) or closest(module, names)
    meant = closest(member, MODULES[module])
    return f"{module}.{meant}" if meant else ""
