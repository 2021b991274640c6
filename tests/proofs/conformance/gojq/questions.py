"""What is asked about each workload and each pod, of our library and of gojq."""

import json
from collections.abc import Callable, Iterator
from functools import partial

from karta_interpreter import Component, Workload
from karta_interpreter.base.k8s.values import JSON, Object
from karta_interpreter.definitions.karta.definition import Fragments, PodSpec, PodTemplate
from karta_interpreter.definitions.karta.expression_text import PodQuery
from karta_interpreter.engine.evaluation.attribution import extract_group_keys
from karta_interpreter.engine.workload.extraction import PIECES
from karta_interpreter.languages.jq import Query
from tests.proofs.conformance.gojq import rules
from tests.proofs.conformance.gojq.asking import Answer, Ask
from tests.proofs.conformance.gojq.peer import Gojq
from tests.proofs.conformance.gojq.samples import pod_queries, queries
from tests.proofs.conformance.gojq.tally import Question, Readings

_WRITTEN = "written"
_ASSIGNMENT = ("(", f") = {json.dumps(_WRITTEN)}")

EXPRESSIONS = "expressions"
"""The kind of question about what an expression gives; all others are about what the library makes of it."""


def of_workload(gojq: Gojq, workload: Workload) -> Iterator[tuple[str, Question]]:
    """Each question about a workload, with its kind."""
    ask, definition, obj = Ask(gojq, workload.object), workload.karta.definition, workload.object
    found = queries(workload)
    ask.ahead(found)
    ask.ahead(found, *_ASSIGNMENT)
    for query in found:
        yield EXPRESSIONS, about_expression(ask, query, definition.name, obj)
        yield "writes", _about_writing(ask, query, definition.name, obj)
    for component in workload.components.values():
        yield from _about_component(ask, component)
    name = definition.name
    yield "statuses", Question(f"{name}: status", obj, partial(_status, workload), _with(ask, rules.status, definition))
    children, root = definition.components[1:], definition.components[0]
    for direction in ("suspend", "resume"):
        actions = [action for each in (*children, root) for action in getattr(each, direction)]
        if actions:
            changed = getattr(workload, direction)
            theirs = _with(ask, rules.acted, actions)
            yield f"{direction}s", Question(f"{name}: {direction}", obj, lambda: changed().object, theirs)  # noqa: B023


def of_pod(gojq: Gojq, workload: Workload, pod: Object) -> Iterator[tuple[str, Question]]:
    """Each question about a pod of a workload, with its kind."""
    definition, whole, ask = workload.karta.definition, Ask(gojq, workload.object), Ask(gojq, pod)
    for query in pod_queries(workload):
        yield EXPRESSIONS, about_expression(ask, query, definition.name, pod)
    yield (
        "attributions",
        Question(
            f"{definition.name}: attribution",
            [pod, workload.object],
            partial(_attribution, workload, pod),
            lambda readings: rules.attribution(whole.reading(*readings), ask.reading(*readings), definition),
        ),
    )
    if definition.gang.pod_groups:
        theirs = _with(ask, rules.member, definition)
        yield "groups", Question(f"{definition.name}: group", pod, partial(_member, workload, pod), theirs)


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


def _about_component(ask: Ask, component: Component) -> Iterator[tuple[str, Question]]:
    definition, obj = component.definition, component.workload.object
    about = f"{definition.definition}, {component.name}"
    kinds = (
        ("instance ids", lambda: list(component.instance_ids), rules.instance_ids),
        ("replicas", lambda: {name: list(scale) for name, scale in component.scales.items()}, rules.scales),
        ("pod templates", lambda: _pod_templates(component), rules.pod_templates),
    )
    for kind, ours, theirs in kinds:
        yield kind, Question(f"{about}: {kind}", obj, ours, _with(ask, theirs, definition))


def _with(ask: Ask, rule: Callable[..., Answer], about: object) -> Callable[[Readings], Answer]:
    return lambda readings: rule(ask.reading(*readings), about)


def _status(workload: Workload) -> Answer:
    found = workload.status
    conditions = [[each.type, each.status, each.reason, each.message] for each in found.conditions]
    return [found.phase, conditions, [status.value for status in found.matched]]


def _pod_templates(component: Component) -> Answer:
    match component.definition.pods:
        case PodTemplate():
            return {"podTemplateSpecPath": dict(component.pod_templates)}
        case PodSpec(_, metadata):
            rest = {"metadataPath": dict(component.pod_metadata)} if metadata else {}
            return {"podSpecPath": dict(component.pod_specs), **rest}
        case Fragments(queries):
            found = component.fragmented_pod_specs
            fields = {field: PIECES[field] for field, _ in queries}
            return {field: {key: getattr(found[key], piece) for key in found} for field, piece in fields.items()}
        case _:
            return {}


def _attribution(workload: Workload, pod: Object) -> Answer:
    (found,) = workload.attribute([pod])
    return [found.component, found.instance, found.replica]


def _member(workload: Workload, pod: Object) -> Answer:
    found = workload.effective_member(pod)
    if found is None:
        return None
    component = workload.karta.definition.component(found.component)
    assert component
    return [found.pod_group, found.component, list(extract_group_keys(component, found.rule.group_by, pod))]
