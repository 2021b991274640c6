"""Looking through a script: what it defines, what it uses, and what of that it should not."""

from collections.abc import Sequence
from typing import Final

from karta_interpreter.lua.grammar.environment import FORBIDDEN, GLOBALS, LIBRARIES, MODULES
from karta_interpreter.lua.grammar.mentions import Definition, Mention, Mentions, Survey
from karta_interpreter.lua.grammar.scopes import Scopes
from karta_interpreter.lua.grammar.syntax import (
    Assignment,
    Block,
    Branch,
    Call,
    Chunk,
    Do,
    Entry,
    Function,
    FunctionStatement,
    GenericFor,
    Goto,
    If,
    Index,
    Label,
    Local,
    LocalFunction,
    MethodCall,
    Name,
    Node,
    NumericFor,
    Repeat,
    Text,
    While,
    children,
)

_FORBIDDEN_METHODS: Final = frozenset(name.removeprefix("string.") for name in FORBIDDEN if name.startswith("string."))

_MOST_MET: Final = 1000
_MOST_NEAR: Final = 200


def survey(chunk: Chunk) -> Survey:
    """Look through a script.

    >>> from karta_interpreter.lua.grammar.parser import parse
    >>> found = survey(parse("function GetReplicas(obj) return tonumbr(obj.spec.replicas) end"))
    >>> found.function("GetReplicas").parameters
    ('obj',)
    >>> found.unknown
    (Mention(name='tonumbr', line=1, inside='GetReplicas', meant='tonumber'),)
    """
    surveyor = _Surveyor()
    surveyor.block(chunk.body)
    return surveyor.mentions.survey()


class _Surveyor:
    """Goes through a script once, knowing the locals of every place; only blocks and functions take recursion."""

    def __init__(self) -> None:
        self.mentions = Mentions()
        self._scopes = Scopes()
        self._modules = {name: name for name in LIBRARIES}
        self._met: set[str] = set()

    def block(self, block: Block, *locals_: Name) -> None:
        """Look through a block that starts with these locals."""
        with self._scopes.block(name.name for name in locals_):
            self._statements(block)

    def _statements(self, block: Block) -> None:
        for statement in block.statements:
            self._statement(statement)

    def _statement(self, node: Node) -> None:
        match node:
            case Local(names, values):
                self._local(names, values)
            case LocalFunction(name, function):
                self._scopes.declare(name.name)
                self._define(name.name, function, local=True)
            case FunctionStatement(target, function):
                self._assign((target,), (function,))
            case Assignment(targets, values):
                self._assign(targets, values)
            case Goto(label):
                self.mentions.gotos.append(self._mention(f"goto {label}", node))
            case Label(label):
                self.mentions.gotos.append(self._mention(f"::{label}::", node))
            case _:
                self._compound(node)

    def _compound(self, node: Node) -> None:
        match node:
            case Block():
                self.block(node)
            case If() | Branch() | While() | Do():
                for child in children(node):
                    self._compound(child)
            case NumericFor(name, bounds, body):
                self._read(*bounds)
                self.block(body, name)
            case GenericFor(names, sources, body):
                self._read(*sources)
                self.block(body, *names)
            case Repeat(body, condition):
                with self._scopes.block():
                    self._statements(body)
                    self._read(condition)
            case _:
                self._read(node)

    def _local(self, names: Sequence[Name], values: Sequence[Node]) -> None:
        modules = [self._scopes.required(value) for value in values]
        for place, value in enumerate(values):
            if isinstance(value, Function):
                self._define(names[place].name if place < len(names) else "", value, local=True)
            else:
                self._read(value)
        for place, name in enumerate(names):
            self._scopes.declare(name.name, modules[place] if place < len(modules) else "")

    def _assign(self, targets: Sequence[Name | Index], values: Sequence[Node]) -> None:
        for place, value in enumerate(values):
            target = targets[place] if place < len(targets) else None
            if isinstance(value, Function):
                self._define_at(target, value)
            else:
                self._read(value)
        for place, target in enumerate(targets):
            self._write(target, values[place] if place < len(values) else None)

    def _write(self, target: Name | Index, value: Node | None) -> None:
        if name := self._global(target):
            self._modules[name] = self._scopes.required(value) if value else ""
            if not isinstance(value, Function):
                self.mentions.assigned.append(self._mention(name, target))
        elif isinstance(target, Index):
            self._read(target.target, target.key)

    def _define_at(self, target: Name | Index | None, function: Function) -> None:
        """A function that becomes the value of a variable or a member."""
        match target:
            case Name(name):
                self._define(name, function, local=self._scopes.is_local(name))
            case Index(_, Text(member)) if name := self._global(target):
                self._define(name, function)
            case Index(_, Text(member)):
                self.mentions.own_members.add(member)
                self._body(member, function)
            case _:
                self._body("", function)

    def _define(self, name: str, function: Function, *, local: bool = False) -> None:
        inside = self._scopes.function
        if not (local and inside):
            parameters, variadic = function.parameters, function.variadic
            definition = Definition(name, function.line, parameters, variadic, local, inside)
            self.mentions.functions.append(definition)
        self._body(name, function)

    def _body(self, name: str, function: Function) -> None:
        # Lua 5.1 gives a variadic function a local named arg
        parameters = (*function.parameters, "arg") if function.variadic else function.parameters
        with self._scopes.body(name, parameters):
            self._statements(function.body)

    def _read(self, *nodes: Node) -> None:
        """Look through expressions."""
        waiting = [*reversed(nodes)]
        while waiting:
            node = waiting.pop()
            if isinstance(node, Function):
                self._body("", node)
                continue
            if isinstance(node, Entry) and isinstance(node.key, Text) and isinstance(node.value, Function):
                self.mentions.own_members.add(node.key.value)
                self._body(node.key.value, node.value)
                continue
            self._use(node)
            waiting.extend(reversed(children(node)))

    def _use(self, node: Node) -> None:
        match node:
            case Name() | Index():
                if name := self._global(node) or self._member(node):
                    self.mentions.reads.append((self._mention(name, node), self._near(name)))
            case Call():
                if module := self._scopes.required(node):
                    self.mentions.required.append(self._mention(module, node))
            case MethodCall(_, Text(method)) if method in _FORBIDDEN_METHODS:
                self.mentions.methods.append(self._mention(f"string.{method}", node.method))

    def _near(self, name: str) -> frozenset[str]:
        """The locals that may have been meant where a name is read first; none where nobody would guess any more."""
        if name in GLOBALS or name in self._met or len(self._met) >= _MOST_MET:
            return frozenset()
        self._met.add(name)
        return self._scopes.locals(_MOST_NEAR)

    def _global(self, node: Node) -> str:
        """The global that a name or ``_G.name`` stands for; "" for anything else."""
        match node:
            case Name(name) if not self._scopes.is_local(name):
                return name
            case Index(Name("_G"), Text(name)) if not self._scopes.is_local("_G"):
                return name if name.isidentifier() else ""
        return ""

    def _member(self, node: Node) -> str:
        """``module.member``, where a variable is known to hold the module; "" for anything else."""
        match node:
            case Index(Name(name), Text(member)):
                module = self._scopes.module(name) if self._scopes.is_local(name) else self._modules.get(name, "")
                return f"{module}.{member}" if module in MODULES else ""
        return ""

    def _mention(self, name: str, node: Node) -> Mention:
        return Mention(name, node.line, self._scopes.function)
