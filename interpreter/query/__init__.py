"""The query language: jq, read, judged, run, and written through.

An expression is parsed to a syntax tree, vetted, and compiled to a `Query`: plain ones run in this process, the
others in a worker process that can be stopped. Everything that knows jq, and the package ``jq`` itself, is in here.
"""

from interpreter.query.bounded.deadline import deadline
from interpreter.query.bounded.pool import close_workers
from interpreter.query.grammar.parser import parse
from interpreter.query.plain.given import Unresolved
from interpreter.query.query import Query
from interpreter.query.vetting.refusals import Refusal
from interpreter.query.vetting.verdict import Verdict, examine, vet
from interpreter.query.writing.location import Location

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
