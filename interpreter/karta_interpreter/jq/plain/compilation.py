"""Plain expressions, compiled to Python and run in this process.

An expression becomes a function of its input: paths become look-ups, `//`, `if`, `and` and `or` the same in Python,
and a generator becomes a loop around what is done with its outputs. What cannot be put in place, and what is rare, is
called: the functions of the modules beside this one, and generators for parts of the expression. `source` shows it.

The results are libjq's, with these differences. The first one is on purpose, some follow gojq, which definitions
are written for, and the others keep the work of an expression bounded by its input:

- ``.[]`` over null gives nothing instead of an error: a control plane holds objects without defaults.
- Objects are read and printed in the order of their keys (gojq).
- Computed numbers are normalised: 1.0 is 1, -0 is 0, integers beyond 2**53 are rounded to a double (gojq), and
  they are printed in gojq's format. A number that is only passed on stays as it is.
- A result beyond the range of a double is an error: JSON has no infinity. ``tonumber`` reads no ``nan``.
- ``*`` multiplies numbers only, without repeating strings and merging objects.
- ``.[array]`` does not search; ``flatten(depth)``, ``abs`` and ``reverse`` refuse inputs of a wrong type that
  libjq lets through by chance.
- Regular expressions are RE2's (gojq); see `karta_interpreter.jq.plain.regex`. ``sub`` takes null for an empty text.
- Arrays and objects of more than 10,000 elements are not iterated over, and ``contains`` makes at most 10,000
  comparisons.
"""

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from karta_interpreter.jq.grammar.syntax import Node
from karta_interpreter.jq.plain.code.emitter import Emitter
from karta_interpreter.jq.plain.code.module import Module
from karta_interpreter.k8s.values import JSON

One: TypeAlias = Callable[[JSON], JSON]
Many: TypeAlias = Callable[[JSON], Iterator[JSON]]
Outputs: TypeAlias = Callable[[JSON], list[JSON]]


def compile_many(node: Node) -> Many:
    """Compile an expression that vetting calls plain to a generator of its outputs; ValueError for any other.

    Outputs are lazy: the next one is computed when it is asked for, and an error appears exactly where jq has it.

    >>> from karta_interpreter.jq.grammar.parser import parse
    >>> list(compile_many(parse(".a[] | .b // 1"))({"a": [{"b": 2}, {}]}))
    [2, 1]
    """
    many: Many = _compiled(lambda writer: writer.produce(node), generates=True)
    return many


def compile_one(node: Node) -> One | None:
    """The same to a function that gives the only output; None where there may be more, or none.

    >>> from karta_interpreter.jq.grammar.parser import parse
    >>> compile_one(parse(".a[]")), (compile_one(parse(".a")) or print)({"a": 1})
    (None, 1)
    """
    return _compiled(lambda writer: writer.give(node)) if node in Module().singles else None


def compile_list(node: Node) -> Outputs:
    """The same to a function that gives a list of all outputs, and raises QueryLimitError for more than 999."""
    outputs: Outputs = _compiled(lambda writer: writer.return_list(node))
    return outputs


def source(node: Node) -> str:
    """The Python that `compile_list` makes of an expression.

    >>> from karta_interpreter.jq.grammar.parser import parse
    >>> print(source(parse(".groups[] | select(.on) | .replicas // 1")))
    def f1(v):
        t1 = []
        t2 = v.get('groups') if type(v) is dict else None if v is None else field(v, 'groups')
        for t3 in t2 if type(t2) is list and len(t2) <= 10000 else present_elements(t2):
            t4 = t3.get('on') if type(t3) is dict else None if t3 is None else field(t3, 'on')
            if t4 is not None and t4 is not False:
                t5 = t3.get('replicas') if type(t3) is dict else None if t3 is None else field(t3, 'replicas')
                if t5 is None or t5 is False:
                    t5 = 1
                t1.append(t5)
                if len(t1) > 999: too_many()
        return t1
    """
    module = Module()
    Emitter(module).function(lambda writer: writer.return_list(node))
    return module.source()


def _compiled(write: Callable[[Emitter], None], *, generates: bool = False) -> Any:  # noqa: ANN401 - one of the above
    module = Module()
    name = Emitter(module).function(write, generates=generates)
    return module.functions()[name]
