"""The names that a script reads, sets and calls, found in its tokens.

A name is local from its first mention behind ``local`` until the end of its block. What a value becomes is not
followed, except for ``local kube = require("kube")``.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from msgspec import Struct, field

from karta_interpreter.languages.lua.machine.source import RESERVED_WORDS, tokens_of

_BRACKETS: Final = frozenset("([{")
_OPENERS: Final = frozenset(("for", "do", "then", "else", *_BRACKETS))
# A ``repeat`` opens no block here, because its condition reads the locals of its body.
_CLOSERS: Final = frozenset(("end", "elseif", "else", ")", "]", "}"))
_RESULT_ENDS: Final = frozenset(("end", "else", "elseif", "until", ";", ""))
_AROUND: Final = (("", "", 0),) * 4


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


class Names(Struct):
    """Every name of a script, in the order of its text. ``locals`` has the locals of all functions, for hints.

    ``kept`` has the locals that keep their value in Karmada but get another one here.
    """

    functions: list[FunctionValue] = field(default_factory=list)
    assigned: list[Mention] = field(default_factory=list)
    read: list[Mention] = field(default_factory=list)
    methods: list[Mention] = field(default_factory=list)
    required: list[Mention] = field(default_factory=list)
    kept: list[Mention] = field(default_factory=list)
    returned: list[tuple[str, str, int]] = field(default_factory=list)
    """What the functions of the script return themselves: the function, the text of the result, the line."""
    own_members: set[str] = field(default_factory=set)
    locals: set[str] = field(default_factory=set)

    @property
    def own(self) -> set[str]:
        """The globals that the script sets."""
        return {mention.name for mention in self.assigned} | {
            function.name for function in self.functions if not function.is_local
        }


def names_of(text: str) -> Names:
    """Find the names of a script.

    >>> names_of("local a = b a = c.d e = a.f").read
    [Mention(name='b', line=1), Mention(name='c', line=1), Mention(name='c.d', line=1)]
    """
    reader = _Reader(text)
    for at in range(len(_AROUND), len(reader.words) - len(_AROUND)):
        reader.step(at)
    return reader.names


class _Reader:
    """Goes through the tokens of one script, with the locals of the blocks and brackets that are open."""

    def __init__(self, text: str) -> None:
        self.names = Names()
        tokens = (token for token in tokens_of(text) if token[0] != "blank")
        # Nothing in front and behind, so that neighbours can be read.
        self._kinds, self.words, self._lines = zip(*_AROUND, *tokens, *_AROUND, strict=True)
        self._open: list[tuple[str, set[str]]] = [("", set())]
        self._modules: dict[str, str] = {}

    def step(self, at: int) -> None:
        """Take the token at a place."""
        word, opener = self.words[at], self._open[-1][0]
        if word in _CLOSERS and opener:
            self._open.pop()
        if word == "function":
            self._function(at)
        elif word in _OPENERS:
            # The variables of `for` are locals of the block behind `do`.
            self._open.append((word, self._open.pop()[1] if (opener, word) == ("for", "do") else set()))
        if word == "return" and [opener for opener, _ in self._open].count("function") == 1:
            behind = next(end for end in range(at + 1, len(self.words)) if self.words[end] in _RESULT_ENDS)
            name = [function.name for function in self.names.functions if not function.is_nested][-1:]
            self.names.returned.append(("".join(name), " ".join(self.words[at + 1 : behind]), self._lines[at]))
        if word in ("for", "local"):
            self._declare(self._listed(at + 1 + (self.words[at + 1] == "function")))
        elif self._kinds[at] == "name" and word not in RESERVED_WORDS:
            self._name(at)

    def _declare(self, names: Sequence[str]) -> None:
        self._open[-1][1].update(names)
        self.names.locals.update(names)

    def _is_local(self, name: str) -> bool:
        return any(name in names for _, names in self._open)

    def _listed(self, at: int) -> Sequence[str]:
        """Return the names that stand there, with commas or dots between them."""
        behind = at + 1
        while self.words[behind] in (",", ".") and self._kinds[behind + 1] == "name":
            behind += 2
        return self.words[at:behind:2]

    def _function(self, at: int) -> None:
        """Take the name and the parameters of a function. They are locals of the block that it opens."""
        opened = self.words.index("(", at)
        parameters = self.words[opened + 1 : self.words.index(")", opened) : 2]
        is_assigned = opened == at + 1 and self.words[at - 1] == "="
        named = at - 2 if is_assigned else opened - 1
        name, before = self.words[named], self.words[named - 1]
        if before in (".", ":") or (is_assigned and self._open[-1][0] == "{"):
            self.names.own_members.add(name)
        elif named != at:
            is_local = "local" in (before, self.words[at - 1])
            is_nested = any(opener == "function" for opener, _ in self._open)
            fixed = len(parameters) - ("..." in parameters)
            value = FunctionValue(name, self._lines[at], fixed, fixed < len(parameters), is_local, is_nested)
            self.names.functions += [value] if is_local or not self._is_local(name) else []
        self._open.append(("function", {"self", "arg"}))
        self._declare(parameters)

    def _name(self, at: int) -> None:
        further, before, name, after, behind = self.words[at - 2 : at + 3]
        mention, opener = Mention(name, self._lines[at]), self._open[-1][0]
        if before == "." and further != "_G":
            self.names.own_members.update([name] if after == "=" and not self._is_local(further) else ())
        elif before == ":" and further != ":":
            self.names.methods.append(mention)
        elif before in (":", "goto", "function") or (after == "=" and (opener == "{" or behind == "function")):
            self.names.own_members.update([name] if opener == "{" and self._kinds[at + 2] == "name" else ())
        elif self._is_local(name):
            self._member(self._modules.get(name, ""), at)
        elif opener not in _BRACKETS and after in ("=", ",") and self.words[at + 2 * len(self._listed(at)) - 1] == "=":
            self.names.assigned.append(mention)
        else:
            self.names.read.append(mention)
            self._member(name, at)
            text = at + 1 + (after == "(")
            if name == "require" and self._kinds[text] == "text" and self.words[text + 1] != "..":
                self._modules[further] = module = self.words[text][1:-1]
                self.names.required.append(Mention(module, mention.line))

    def _member(self, holder: str, at: int) -> None:
        if holder and self.words[at + 1] in (".", ":") and self.words[at + 3] != "=":
            self.names.read.append(Mention(f"{holder}.{self.words[at + 2]}", self._lines[at]))
