"""What is asked about each workload and each pod, of our library and of gojq."""

import json
from collections.abc import Iterator

from karta_interpreter import Workload
from karta_interpreter.base.k8s.values import JSON, Object
from karta_interpreter.definitions.karta.expression_text import PodQuery
from karta_interpreter.languages.jq import Query
from tests.proofs.conformance.gojq.asking import Ask
from tests.proofs.conformance.gojq.peer import Gojq
from tests.proofs.conformance.gojq.samples import pod_queries, queries
from tests.proofs.conformance.gojq.tally import Question

_WRITTEN = "written"
_ASSIGNMENT = ("(", f") = {json.dumps(_WRITTEN)}")

EXPRESSIONS = "expressions"
"""The kind of question about what an expression gives."""


def of_workload(gojq: Gojq, workload: Workload) -> Iterator[tuple[str, Question]]:
    """Each question about a workload, with its kind."""
    ask, name, obj = Ask(gojq, workload.object), workload.karta.name, workload.object
    found = queries(workload)
    ask.ahead(found)
    ask.ahead(found, *_ASSIGNMENT)
    for query in found:
        yield EXPRESSIONS, about_expression(ask, query, name, obj)
        yield "writes", _about_writing(ask, query, name, obj)


def of_pod(gojq: Gojq, workload: Workload, pod: Object) -> Iterator[Question]:
    """What each expression about pods gives for a pod."""
    ask = Ask(gojq, pod)
    for query in pod_queries(workload):
        yield about_expression(ask, query, workload.karta.name, pod)


def about_expression(ask: Ask, query: Query | PodQuery, definition: str, value: JSON) -> Question:
    """The question what an expression of a definition gives for a value."""
    ready = query.query if isinstance(query, PodQuery) else query
    return Question(
        f"{definition}: {query.text}",
        value,
        lambda: Query.evaluate(ready, value),  # annotations ask for types, of which jq knows nothing
        lambda readings: list(ask.reading(*readings).outputs(query)),
    )


def _about_writing(ask: Ask, query: Query, definition: str, value: Object) -> Question:
    return Question(
        f"{definition}: writing {query.text}",
        value,
        lambda: query.assign(value, _WRITTEN),
        lambda readings: ask.reading(*readings).outputs(query, *_ASSIGNMENT)[0],
        only_here="values are written through `min`, `max` and functions, too",
        only_there="nothing is written through a slice, a null that is no place, and what is bounded",
    )
