"""All questions about one workload."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial

from karta_interpreter.base.errors import (
    InterpretationError,
    LuaLimitError,
    QueryError,
    QueryReferenceError,
    QueryStoppedError,
)
from karta_interpreter.base.findings import DefinitionError
from karta_interpreter.base.k8s import Object, get
from karta_interpreter.definitions.karta import ComponentRules, Definition, resolved
from karta_interpreter.definitions.karta.annotations import PREFIX, FieldPlace
from karta_interpreter.definitions.openapi.schema import CustomKind
from karta_interpreter.engine.evaluation import pod_sets
from karta_interpreter.engine.explain.reading import field_of
from karta_interpreter.engine.operations import COUNTING_OPERATIONS, Operation
from karta_interpreter.engine.verification.aggregation import judge_status
from karta_interpreter.engine.verification.counts import judge_counts
from karta_interpreter.engine.verification.dependencies import judge_dependencies
from karta_interpreter.engine.verification.evidence import Evidence, unsettled
from karta_interpreter.engine.verification.health import judge_health
from karta_interpreter.engine.verification.judgement import Judgement, Question, Verdict, pod_field
from karta_interpreter.engine.verification.members import members
from karta_interpreter.engine.verification.requirements import judge_requirements
from karta_interpreter.engine.verification.retention import judge_retention

Answer = Callable[[], Iterator[Judgement]]


def verify(definition: Definition, evidence: Evidence, crd: Object | None = None) -> tuple[Judgement, ...]:
    """Return the judgements about a workload, one or more for each question that the definition answers.

    The CRD of its kind tells which fields every template has.
    """
    definition = resolved(definition, evidence.object, evidence.reader)
    looked_up = {
        id(value): value
        for leaf in definition.leaves
        for query in leaf.pod_queries.values()
        for value in query.values.values()
    }
    evidence = replace(evidence, pods=evidence.own, looked_up=tuple(looked_up.values()))
    waiting = unsettled(definition, evidence)
    judgements_found: list[Judgement] = []
    for question, (answer, needs_pods) in _answers(definition, evidence, crd).items():
        if waiting and needs_pods:
            judgements_found.append(Judgement(question, Verdict.UNJUDGED, waiting))
            continue
        judgements_found += [*_answered(definition, evidence.object, question, answer)] or [Judgement(question)]
    return tuple(judgements_found)


def _answers(definition: Definition, evidence: Evidence, crd: Object | None) -> dict[Question, tuple[Answer, bool]]:
    """Return the questions about a kind. Some are about pods, and wait until the object has settled."""
    pods = cache(lambda: members(definition, pod_sets(definition, evidence.object), evidence.pods))
    answers: dict[Question, tuple[Answer, bool]] = {}
    is_counted = any(definition.answers(operation) for operation in COUNTING_OPERATIONS)
    if is_counted and (definition.leaves or not COUNTING_OPERATIONS.isdisjoint(definition.scripts.operations)):
        answers[Question.COUNTS] = (lambda: judge_counts(definition, evidence, pods()), True)
    if is_counted and definition.leaves:
        answers[Question.REQUIREMENTS] = (lambda: judge_requirements(definition, evidence, pods()), True)
    if definition.answers(Operation.INTERPRET_HEALTH):
        answers[Question.HEALTH] = (lambda: judge_health(definition, evidence, pods()), True)
    if definition.answers(Operation.INTERPRET_DEPENDENCY):
        answers[Question.DEPENDENCIES] = (partial(judge_dependencies, definition, evidence), False)
    schema: Object = {}
    with suppress(DefinitionError):  # there is no CRD, or it lacks the version
        schema = CustomKind.of(crd or {}, definition.gvk.version).schema
    answers[Question.RETAIN] = (partial(judge_retention, definition, evidence, schema), False)
    if definition.answers(Operation.AGGREGATE_STATUS) and definition.answers(Operation.INTERPRET_STATUS):
        answers[Question.STATUS] = (partial(judge_status, definition, evidence), False)
    return answers


def _answered(definition: Definition, obj: Object, question: Question, answer: Answer) -> Iterator[Judgement]:
    try:
        yield from answer()
    except InterpretationError as error:
        causes = (error, error.__cause__)
        # A busy machine, or a reference that could not be looked up, says nothing about the definition.
        unjudged = any(isinstance(cause, QueryStoppedError | QueryReferenceError | LuaLimitError) for cause in causes)
        verdict = Verdict.UNJUDGED if unjudged else Verdict.DIFFERS
        places = [cause.place for cause in causes if isinstance(cause, InterpretationError)]
        field = next((_field_of(definition, obj, place) for place in places if isinstance(place, FieldPlace)), "")
        yield Judgement(question, verdict, f"there is no answer: {error}", "", field)


def _field_of(definition: Definition, obj: Object, place: FieldPlace) -> str:
    name, field = place.component, place.field
    component = definition.component(name)
    if component is None:
        return f"metadata.annotations.{PREFIX}{field}"
    is_count = field.endswith("eplicasPath")
    # A component whose template has no containers has no count either: the object does not have its section.
    if field in component.pod_queries or (is_count and not _has_containers(component, obj)):
        return pod_field(definition, name, field)
    places = {"byExpression": "statusDefinition.statusMappings"}
    return field_of(definition, name, f"scaleDefinition.{field}" if is_count else places.get(field, field))


def _has_containers(component: ComponentRules, obj: Object) -> bool:
    with suppress(QueryError):
        return any(
            get(value, path)
            for query in component.pod_queries.values()
            for value in query.evaluate(obj)
            for path in (("spec", "containers"), ("containers",))
        )
    return True
