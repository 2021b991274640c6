"""The grammar of what brackets and keywords enclose: arrays, objects, ``if``, ``reduce`` and ``foreach``."""

from abc import abstractmethod

from msgspec.structs import replace

from karta_interpreter.jq.grammar.lexer import Kind, Token
from karta_interpreter.jq.grammar.patterns import PatternParser
from karta_interpreter.jq.grammar.syntax import (
    Array,
    Break,
    Entry,
    Foreach,
    Identity,
    If,
    Index,
    Literal,
    Node,
    Object,
    Pattern,
    Pipe,
    Reduce,
    Variable,
)


class BlockParser(PatternParser):
    """Reads blocks; each method is given the token that opened its block, already taken."""

    @abstractmethod
    def expression(self) -> Node:
        """Read as far as operators go: up to a comma, a pipe or ``as``."""

    def group(self, opened: Token) -> Node:
        """Read the rest of ``(query)``; its parentheses belong to its place."""
        inner = self.query()
        self.close(opened)
        return replace(inner, span=self.span(opened))

    def array(self, opened: Token) -> Node:
        """Read the rest of ``[query]``."""
        body = None if self.at("]") else self.query()
        self.close(opened)
        return Array(body, span=self.span(opened))

    def object(self, opened: Token) -> Node:
        """Read the rest of ``{key: value, ...}``; a comma may follow the last entry."""
        entries: list[Entry] = []
        while not self.at("}"):
            entries.append(self._entry_of_object())
            if not self.accept(","):
                break
        self.close(opened)
        return Object(tuple(entries), span=self.span(opened))

    def condition(self, opened: Token) -> Node:
        """Read the rest of ``if``."""
        branches = [self._branch("if")]
        while self.accept("elif"):
            branches.append(self._branch("elif"))
        otherwise = self.query() if self.accept("else") else None
        if self.at_kind(Kind.END):
            raise self.error("`if` opened here is never closed with `end`", opened.span)
        self.expect("end", "to close `if`")
        return If(tuple(branches), otherwise, span=self.span(opened))

    def reduction(self, opened: Token) -> Node:
        """Read the rest of ``reduce``."""
        source, pattern, parenthesis = self._loop_head("reduce")
        init = self.query()
        self.expect(";", "between the two parts of `reduce`")
        update = self.query()
        self.close(parenthesis)
        return Reduce(source, pattern, init, update, span=self.span(opened))

    def loop(self, opened: Token) -> Node:
        """Read the rest of ``foreach``."""
        source, pattern, parenthesis = self._loop_head("foreach")
        init = self.query()
        self.expect(";", "between the parts of `foreach`")
        update = self.query()
        extract = self.query() if self.accept(";") else None
        self.close(parenthesis)
        return Foreach(source, pattern, init, update, extract, span=self.span(opened))

    def escape(self, opened: Token) -> Node:
        """Read the rest of ``break $name``."""
        name = self.variable_name("the `$name` of a label")
        return Break(name, span=self.span(opened))

    def _branch(self, keyword: str) -> tuple[Node, Node]:
        condition = self.query()
        self.expect("then", f"after the condition of `{keyword}`")
        return condition, self.query()

    def _loop_head(self, keyword: str) -> tuple[Node, Pattern, Token]:
        source = self.expression()
        self.expect("as", f"after the source of `{keyword}`")
        pattern = self.pattern()
        return source, pattern, self.expect("(", f"after the pattern of `{keyword}`")

    def _entry_of_object(self) -> Entry:
        if self.at_kind(Kind.VARIABLE):
            return self._variable_entry()
        if opened := self.accept("("):
            key = self.parenthesised_key(opened)
            self.expect(":", "after the key of an object")
            return Entry(key, self._value())
        key = self.string() if self.at_string() else self._plain_key()
        if self.accept(":"):
            return Entry(key, self._value())
        return Entry(key, Index(Identity(span=key.span), key, span=key.span))

    def _variable_entry(self) -> Entry:
        token = self.advance()
        variable = Variable(token.text, span=token.span)
        if token.text != "__loc__" and self.accept(":"):
            return Entry(variable, self._value())
        return Entry(Literal(token.text, span=token.span), variable)

    def _plain_key(self) -> Node:
        hint = 'a key is a name, a "string", a $variable or an (expression)'
        return self.accept_plain_key() or self.fail(f"expected a key{self.after_previous()}", hint)

    def _value(self) -> Node:
        """Read pipes, but no comma: that one ends the entry."""
        steps = [self.expression()]
        while self.accept("|"):
            steps.append(self.expression())
        value = steps.pop()
        while steps:
            step = steps.pop()
            value = Pipe(step, value, span=self.span(step))
        return value
