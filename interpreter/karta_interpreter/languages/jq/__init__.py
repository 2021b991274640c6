"""The query language: parses, checks and runs jq expressions, and writes through them.

An expression is parsed to a syntax tree, analysed, and compiled to a `Query`: plain ones run in this process, the
others in a process that can be stopped. All code about jq, and the only import of the package ``jq``, is in here.
"""

from karta_interpreter.languages.jq.analysis import Execution, Reason, examine, forget_many
from karta_interpreter.languages.jq.assign import Location
from karta_interpreter.languages.jq.bounded.libjq import MOST_OUTPUTS
from karta_interpreter.languages.jq.compiled.costs import CHARACTERS
from karta_interpreter.languages.jq.compiled.function_body import OutputSink
from karta_interpreter.languages.jq.compiled.functions import (
    Argument,
    OutputKind,
    function_of,
    result_of,
)
from karta_interpreter.languages.jq.compiled.reads import Built, mark_all, project, sources
from karta_interpreter.languages.jq.compiled.singles import Singles, repeats_pieces, several
from karta_interpreter.languages.jq.compiled.values import equal, normal, order_key, to_text, truthy
from karta_interpreter.languages.jq.compiled.variables import Absent, Unresolved, noting_absent
from karta_interpreter.languages.jq.query import Query, field_names, queries_in, quoted, records_in, take_outputs
from karta_interpreter.languages.jq.syntax.parser import parse
from karta_interpreter.languages.jq.syntax.precedence import split_path
from karta_interpreter.languages.jq.syntax.printer import render
from karta_interpreter.languages.jq.syntax.traversal import (
    children,
    field_of,
    is_computed,
    is_merge,
    owner_of,
    parts_of,
    plain_path,
    terms_of,
    variables_in,
)

__all__ = [
    "CHARACTERS",
    "MOST_OUTPUTS",
    "Absent",
    "Argument",
    "Built",
    "Execution",
    "Location",
    "OutputKind",
    "OutputSink",
    "Query",
    "Reason",
    "Singles",
    "Unresolved",
    "children",
    "equal",
    "examine",
    "field_names",
    "field_of",
    "forget_many",
    "function_of",
    "is_computed",
    "is_merge",
    "mark_all",
    "normal",
    "noting_absent",
    "order_key",
    "owner_of",
    "parse",
    "parts_of",
    "plain_path",
    "project",
    "queries_in",
    "quoted",
    "records_in",
    "render",
    "repeats_pieces",
    "result_of",
    "several",
    "sources",
    "split_path",
    "take_outputs",
    "terms_of",
    "to_text",
    "truthy",
    "variables_in",
]
