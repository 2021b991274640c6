"""Python for every construct of a plain expression."""

from collections.abc import Callable, Sequence

from karta_interpreter.jq import syntax as ast
from karta_interpreter.jq.inprocess.calls import called
from karta_interpreter.jq.inprocess.choices import (
    MERGE,
    Choices,
    arithmetic,
    comparison,
    is_comparison,
    is_integer,
    is_text,
)
from karta_interpreter.jq.inprocess.functions import FUNCTIONS, Outputs
from karta_interpreter.jq.inprocess.values import is_number, normal
from karta_interpreter.jq.inprocess.writer import Sink
from karta_interpreter.jq.syntax import Node
from karta_interpreter.jq.syntax.precedence import split_path
from karta_interpreter.jq.syntax.traversal import children, is_merge, parts_of, terms_of


class Emitter(Choices):
    """Writes any plain expression; ValueError for any other."""

    def construct(self, node: Node, here: str, sink: Sink) -> None:  # noqa: C901, PLR0912 - one case for each construct
        """Write Python for a node and its outputs."""
        match node:
            case ast.Identity():
                sink.write(here)
            case ast.Literal(value):
                sink.write(self.module.constant(normal(value) if is_number(value) else value))
            case ast.Variable(name):
                sink.write(self.bind(f"value_of({self.module.constant(name)})"))
            case ast.Index():
                self._index(node, here, sink)
            case ast.Slice():
                self._slice(node, here, sink)
            case ast.Iterate(target):
                self.each(target, here, Sink(lambda whole: self.elements(whole, sink)))
            case ast.Pipe():
                self._pipe(node, here, sink)
            case ast.Comma():
                self._comma(node, here, sink)
            case ast.Alternative():
                self.alternative(node, here, sink)
            case ast.Binary("and" | "or"):
                self.logic(node, here, sink)
            case ast.Binary():
                self._binary(node, here, sink)
            case ast.Negate(body):
                self.each(body, here, Sink(lambda output: sink.write(self.bind(f"negate({output})"))))
            case ast.If():
                self.conditional(node, here, sink)
            case ast.Try():
                self.attempt(node, here, sink)
            case ast.Array(body):
                sink.write("[]" if body is None else self.collected(body, here))
            case ast.Object():
                self._object(node, here, sink)
            case ast.Text():
                self._text(node, here, sink)
            case ast.Call(name, arguments) if function := FUNCTIONS.get((name, len(arguments))):
                function.write(self, node, here, sink)
            case ast.Call(name, arguments):
                raise ValueError(f"{name}/{len(arguments)} is not plain")
            case _:
                raise ValueError(f"{type(node).__name__} is not plain")

    def applied(self, name: str, here: str) -> str:
        """Write the call of a function of the input alone, and return an atom for its output."""
        result, source = self.bind(f"{called(name, 0)}({here})"), FUNCTIONS[name, 0].origin
        if source is None or here not in self.origins:
            return result
        return self.located(result, source.format(origin=self.origin(here), here=here, result=result))

    def _index(self, node: ast.Index, here: str, sink: Sink) -> None:
        match node.key:
            case ast.Literal(str()):
                target, names = split_path(node)
                self.each(target, here, Sink(lambda whole: sink.write(self.field(whole, names))))
            case key:
                self._pairs(node.target, key, here, lambda whole, of: sink.write(self.item(whole, of)))

    def field(self, whole: str, names: tuple[str, ...]) -> str:
        """Write ``whole.a.b.c``, and return an atom for it."""
        keys, value = tuple(map(self.module.constant, names)), whole
        for key in keys:
            value = self.named(value)
            known = f"{value}.get({key}) if type({value}) is dict"
            value = self.bind(f"{known} else None if {value} is None else no_field({value}, {key})")
        return self.inside(whole, keys, value)

    def item(self, whole: str, key: str) -> str:
        """Write ``whole[key]``, and return an atom for it."""
        whole = self.named(whole)
        # In place, without a call: these two need no test of the index.
        known = f"{whole}[{key}] if type({whole}) is list and {whole} else " if key in ("0", "-1") else ""
        value = self.bind(f"{known}item({whole}, {key})")
        if is_integer(key) and key[0] != "-":
            return self.inside(whole, (key,), value)
        is_known = whole in self.origins
        return self.located(value, f"step({self.origin(whole)}, {whole}, {key}, {value})" if is_known else None)

    def _pairs(self, left: Node, right: Node, here: str, use: Callable[[str, str], None]) -> None:
        """Write what is done with all pairs of outputs; the right ones are the outer loop."""
        self.each(right, here, Sink(lambda other: self.each(left, here, Sink(lambda own: use(own, other)))))

    def _slice(self, node: ast.Slice, here: str, sink: Sink) -> None:
        def cut(low: str, high: str) -> None:
            self.each(node.target, here, Sink(lambda whole: sink.write(self.bind(f"part({whole}, {low}, {high})"))))

        start, stop = node.start or ast.Literal(None), node.stop or ast.Literal(None)
        self.each(start, here, Sink(lambda low: self.each(stop, here, Sink(lambda high: cut(low, high)))))

    def _pipe(self, node: Node, here: str, sink: Sink) -> None:
        while isinstance(node, ast.Pipe) and node.left in self.module.singles:
            here, node = self.entered(self.value(node.left, here)), node.right
        if isinstance(node, ast.Pipe):
            right = node.right
            self.each(node.left, here, Sink(lambda output: self.each(right, self.entered(output), sink)))
        else:
            self.each(node, here, sink)

    def _comma(self, node: ast.Comma, here: str, sink: Sink) -> None:
        terms = terms_of(node)
        if sink.short:
            for term in terms:
                self.each(term, here, sink)
        elif all(isinstance(term, ast.Literal) for term in terms):
            self.loop(f"({', '.join([self.value(term, here) for term in terms])})", sink)
        else:
            self.stream(node, here, sink)

    def _binary(self, node: ast.Binary, here: str, sink: Sink) -> None:
        operator = MERGE if is_merge(node) else node.operator

        def write(own: str, other: str) -> None:
            if is_comparison(operator):
                sink.write(self.bind(comparison(operator, self.named(own), other)))
            else:
                sink.write(self.computed(operator, own, other))

        self._pairs(node.left, node.right, here, write)

    def computed(self, operator: str, left: str, right: str) -> str:
        """Write ``left + right`` or the like, and return an atom for it."""
        result = self.new()
        self.line(f"{result} = {arithmetic(operator, left, right, result)}")
        factors = ((left, right), (right, left)) if operator == "*" else ()
        ways = [f"times({self.origin(own)}, {factor})" for own, factor in factors if own in self.origins]
        return self.located(result, f"({' or '.join(ways)})" if ways else None)

    def _object(self, node: ast.Object, here: str, sink: Sink) -> None:
        if node in self.module.singles:
            fields = [f"{self._key(entry.key, here)}: {self.value(entry.value, here)}" for entry in node.entries]
            sink.write(self.bind(f"{{{', '.join(fields)}}}") if fields else "{}")
            return
        entries = [f"({self.generator(entry.key)}, {self.generator(entry.value)}), " for entry in node.entries]
        self.loop(f"objects(({''.join(entries)}), {here})", sink)

    def _key(self, node: Node, here: str) -> str:
        key = self.value(node, here)
        return key if is_text(key) else self.bind(f"key_of({key})")

    def _text(self, node: ast.Text, here: str, sink: Sink) -> None:
        if node.format is not None:
            raise ValueError("a format is not plain")
        singles = self.module.singles
        convert = "short_text" if repeats_pieces(node, singles) else "to_text"
        if sum(isinstance(part, Node) and part not in singles for part in node.parts) > 1:
            nodes = [ast.Literal(part) if isinstance(part, str) else part for part in node.parts]
            made = [f"({self.generator(part)}, {convert if part in singles else 'to_text'}), " for part in nodes]
            self.loop(f"texts(({''.join(made)}), {here})", sink)
            return

        def spell(parts: Sequence[str | Node], after: list[str]) -> None:
            while parts and (isinstance(parts[-1], str) or parts[-1] in singles):
                parts, after = parts[:-1], [self._piece(parts[-1], here, convert), *after]
            match parts:
                case [*before, Node() as last]:

                    def use(output: str) -> None:
                        spell(before, [self.bind(f"to_text({output})"), *after])

                    self.each(last, here, Sink(use))
                case _:
                    sink.write(self.bind(f"''.join(({''.join(f'{piece}, ' for piece in after)}))"))

        spell(node.parts, [])

    def _piece(self, part: str | Node, here: str, convert: str) -> str:
        if isinstance(part, str):
            return self.module.constant(part)
        return self.bind(f"{convert}({self.value(part, here)})")


_COMBINING = (
    ast.Index | ast.Slice | ast.Pipe | ast.Alternative | ast.Binary | ast.Negate | ast.If | ast.Object | ast.Text
)
"""Constructs with an output for every combination of outputs of their parts."""


class Singles:
    """The nodes that have exactly one output, unless they fail; computed once for each.

    >>> from karta_interpreter.jq.syntax.parser import parse
    >>> singles = Singles()
    >>> parse(".a // 1") in singles, parse(".a // empty") in singles, parse("[.a // empty]") in singles
    (True, False, True)
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[Node, bool]] = {}

    def __contains__(self, node: Node) -> bool:
        known = self._known.get(id(node))
        if known is None:
            # with the node, which stays alive so that its id is that of no other
            known = self._known[id(node)] = node, self._has_one_output(node)
        return known[1]

    def _has_one_output(self, node: Node) -> bool:
        if isinstance(node, ast.Identity | ast.Literal | ast.Variable | ast.Array):
            return True
        if isinstance(node, ast.Call):
            function = FUNCTIONS.get((node.name, len(node.arguments)))
            if function is None or function.outputs is not Outputs.EACH:
                return function is not None and function.outputs is Outputs.ONE
        elif not isinstance(node, _COMBINING):
            return False
        for part in children(node):  # noqa: SIM110 - all() would be another frame for each level of a tree
            if part not in self:
                return False
        return True


def repeats_pieces(node: ast.Text, singles: Singles) -> bool:
    """Whether a text may repeat its pieces for each element of a list, so that these have to be short."""
    several = (part for part in children(node) if part not in singles)
    return any(isinstance(inner, ast.Iterate) for part in several for inner in parts_of(part))
