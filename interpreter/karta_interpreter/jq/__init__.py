"""The query language: jq, read, judged, run, and written through.

An expression is parsed to a syntax tree, vetted, and compiled to a `Query`: plain ones run in this process, the
others in a process that can be stopped. Everything that knows jq, and the package ``jq`` itself, is in here.
"""

from karta_interpreter.jq.analysis import Verdict, examine, forget_many, vet
from karta_interpreter.jq.analysis.refusals import Refusal
from karta_interpreter.jq.assign import Location
from karta_interpreter.jq.inprocess.compiler import Unresolved
from karta_interpreter.jq.query import Query
from karta_interpreter.jq.syntax.parser import parse

__all__ = [
    "Location",
    "Query",
    "Refusal",
    "Unresolved",
    "Verdict",
    "examine",
    "forget_many",
    "parse",
    "vet",
]
