"""The query language: jq, read, judged, run, and written through.

An expression is parsed to a syntax tree, vetted, and compiled to a `Query`: plain ones run in this process, the
others in a worker process that can be stopped. Everything that knows jq, and the package ``jq`` itself, is in here.
"""

from karta_interpreter.jq.bounded.deadline import deadline
from karta_interpreter.jq.bounded.pool import close_workers
from karta_interpreter.jq.grammar.parser import parse
from karta_interpreter.jq.plain.given import Unresolved
from karta_interpreter.jq.query import Query
from karta_interpreter.jq.vetting.refusals import Refusal
from karta_interpreter.jq.vetting.verdict import Verdict, examine, vet
from karta_interpreter.jq.writing.location import Location

__all__ = [
    "Location",
    "Query",
    "Refusal",
    "Unresolved",
    "Verdict",
    "close_workers",
    "deadline",
    "examine",
    "parse",
    "vet",
]
