"""The query language: parses, checks and runs jq expressions, and writes through them.

An expression is parsed to a syntax tree, analysed, and compiled to a `Query`: plain ones run in this process, the
others in a process that can be stopped. All code about jq, and the only import of the package ``jq``, is in here.
"""

from karta_interpreter.languages.jq.analysis import Verdict, examine, forget_many
from karta_interpreter.languages.jq.assign import Location
from karta_interpreter.languages.jq.compiled.variables import Unresolved
from karta_interpreter.languages.jq.query import Query, queries_in, take_outputs
from karta_interpreter.languages.jq.syntax.parser import parse

__all__ = [
    "Location",
    "Query",
    "Unresolved",
    "Verdict",
    "examine",
    "forget_many",
    "parse",
    "queries_in",
    "take_outputs",
]
