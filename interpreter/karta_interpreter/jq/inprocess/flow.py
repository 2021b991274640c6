"""How outputs go from one construct to the next."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Final, Self

from karta_interpreter.jq.bounded.child import MOST_RESULTS
from karta_interpreter.jq.inprocess.operators import MOST_ELEMENTS
from karta_interpreter.jq.inprocess.writer import INPUT, Sink, Writer
from karta_interpreter.jq.syntax import Call, Identity, Literal, Node
from karta_interpreter.jq.syntax.traversal import terms_of

DEEPEST: Final = 16
"""How many constructs are written inside of each other in one function; Python takes 20 loops and 100 levels."""


class Flow(Writer, ABC):
    """Writes what happens with every output of an expression, at the place where it is computed.

    ``a | b`` is ``a`` with ``b`` written where its outputs are: loops inside of loops. A construct that would have to
    write the same twice becomes a generator of its own, and so does what is nested too deep.
    """

    @abstractmethod
    def construct(self, node: Node, here: str, sink: Sink) -> None:
        """Write Python for a node and its outputs; the parts of the node are written by `each` and `value`."""

    def each(self, node: Node, here: str, sink: Sink) -> None:
        """Write Python that runs an expression for the input ``here`` and runs the sink for every output.

        Where there is always one output, the code of the sink follows at the same level.
        """
        if is_empty(node):
            return
        if node in self.module.singles:
            sink.write(self.value(node, here))
        elif self.depth >= DEEPEST:
            self.stream(node, here, sink)
        else:
            self.depth += 1
            self.construct(node, here, sink)
            self.depth -= 1

    def value(self, node: Node, here: str) -> str:
        """Write Python that runs an expression with one output, and return an atom for that."""
        if self.depth >= DEEPEST and not isinstance(node, Identity | Literal):
            return self.called(lambda writer: writer.give(node), here)
        found: list[str] = []
        self.depth += 1
        self.construct(node, here, Sink(found.append))
        self.depth -= 1
        (atom,) = found
        return atom

    def stream(self, node: Node, here: str, sink: Sink) -> None:
        """Write a loop over the outputs of an expression that is a function of its own."""
        self.streamed(lambda writer: writer.produce(node), here, sink)

    def called(self, write: Callable[[Self], None], here: str) -> str:
        """Write a call of another function with one output, and return an atom for that."""
        return self.bind(f"{self.function(write)}({here})")

    def streamed(self, write: Callable[[Self], None], here: str, sink: Sink) -> None:
        """Write a loop over the outputs of another function."""
        self.loop(f"{self.function(write, generates=True)}({here})", sink)

    def elements(self, whole: str, sink: Sink, function: str = "present_elements") -> None:
        """Write a loop over the elements of a value, mostly of a list; ``function`` is called for any other value."""
        whole = self.named(whole)
        self.loop(
            f"{whole} if type({whole}) is list and len({whole}) <= {MOST_ELEMENTS} else {function}({whole})", sink
        )

    def loop(self, iterable: str, sink: Sink) -> None:
        """Write a loop over the values of a Python expression."""
        name = self.new()
        with self.block(f"for {name} in {iterable}:"):
            sink.write(name)

    def generator(self, node: Node) -> str:
        """The name of a function that gives all outputs of an expression, one by one."""
        return self.function(lambda writer: writer.produce(node), generates=True)

    def produce(self, node: Node) -> None:
        """Write the body of a generator of all outputs."""
        self.each(node, INPUT, Sink(lambda output: self.line(f"yield {self.handed(output)}"), short=True))

    def give(self, node: Node) -> None:
        """Write the body of a function that returns the one output."""
        self.line(f"return {self.handed(self.value(node, INPUT))}")

    def return_list(self, node: Node) -> None:
        """Write the body of a function that returns a list of all outputs, and fails if there are too many."""
        if node in self.module.singles:
            self.line(f"return [{self.handed(self.value(node, INPUT))}]")
            return
        outputs = self.bind("[]")

        def write(atom: str) -> None:
            self.line(f"{outputs}.append({self.handed(atom)})")
            self.line(f"if len({outputs}) > {MOST_RESULTS}: too_many()")

        self.each(node, INPUT, Sink(write, short=True))
        self.line(f"return {outputs}")

    def collected(self, node: Node, here: str) -> str:
        """Write Python that makes an array of all outputs, and return its name."""
        first, rest = self._leading(terms_of(node))
        array = self.array([self.value(term, here) for term in first])
        for term in rest:
            self.each(term, here, Sink(lambda output: self.append(array, output), short=True))
        return array

    def array(self, outputs: list[str]) -> str:
        """A variable for an array of outputs, to which others may be appended."""
        return self.bind(f"[{', '.join(outputs)}]")

    def append(self, array: str, output: str) -> None:
        """Write that an array has another output in it."""
        self.line(f"{array}.append({output})")

    def _leading(self, terms: list[Node]) -> tuple[list[Node], list[Node]]:
        """The terms with one output that come first, and all others."""
        for index, term in enumerate(terms):
            if term not in self.module.singles:
                return terms[:index], terms[index:]
        return terms, []


def is_empty(node: Node) -> bool:
    """Whether an expression never has an output."""
    return isinstance(node, Call) and node.name == "empty" and not node.arguments
