"""The draft of any schema can be loaded, and counts the pods in objects of the schema."""

from typing import Any

from hypothesis import given, strategies as st

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.openapi.draft import draft
from karta_interpreter.definitions.openapi.schema import CustomKind
from karta_interpreter.engine.evaluation.evaluation import instance_ids
from karta_interpreter.engine.evaluation.pods import pod_sets
from tests.definitions.openapi.draft.test_draft import TEMPLATE, fields

NAMES = st.sampled_from(["a", "b-c", "groups", "end", "replicaSpecs", "template", "1x", "ü"])
WHOLE = st.one_of(
    st.just(TEMPLATE),
    st.just({"type": "integer"}),
    st.just({"type": "string"}),
    st.just({"type": "object"}),
    st.just({"type": "array"}),
    st.just({"x-kubernetes-int-or-string": True}),
)
SCHEMAS = st.recursive(
    WHOLE,
    lambda inner: st.one_of(
        st.builds(lambda named: fields(**named), st.dictionaries(NAMES, inner, max_size=3)),
        st.builds(lambda item: {"type": "array", "items": item}, inner),
        st.builds(lambda value: {"type": "object", "additionalProperties": value}, inner),
    ),
    max_leaves=8,
)
JUNK = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(
            st.sampled_from(
                ["properties", "items", "type", "enum", "spec", "status", "conditions", "additionalProperties"]
            ),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=12,
)


def kind(schema: Any) -> CustomKind:
    return CustomKind("things.example.io", GVK("example.io", "v1", "Thing"), schema)


@given(SCHEMAS, SCHEMAS)
def test_draft_can_be_loaded(spec: Any, status: Any) -> None:
    load_definition(draft(kind(fields(spec=spec, status=status))).karta)


@given(JUNK)
def test_junk_is_no_schema_and_no_reason_to_fail(junk: Any) -> None:
    load_definition(draft(kind(junk if isinstance(junk, dict) else {"properties": {"spec": junk}})).karta)


@st.composite
def workloads(draw: st.DrawFn) -> tuple[Any, Any, int]:
    """A schema of groups within groups, an object of it, and how many pods that has."""
    schema: Any = fields(replicas={"type": "integer", "default": 1}, template=TEMPLATE)
    levels = draw(st.lists(st.sampled_from(["list", "map", "nameless", "section"]), max_size=3))
    for level in levels:
        inner = {**schema, "properties": {**schema["properties"], "name": {"type": "string"}}}
        held = {
            "list": {"type": "array", "items": inner},
            "nameless": {"type": "array", "items": schema},
            "map": {"type": "object", "additionalProperties": schema},
            "section": schema,
        }
        schema = fields(replicas={"type": "integer", "default": 1}, part=held[level])
    spec, pods = draw(contents(list(reversed(levels))))
    return fields(spec=schema), {"apiVersion": "example.io/v1", "kind": "Thing", "spec": spec}, pods


@st.composite
def contents(draw: st.DrawFn, levels: list[str]) -> tuple[Any, int]:
    """What is in a group, and its pods."""
    replicas = draw(st.none() | st.integers(0, 3))
    here = {} if replicas is None else {"replicas": replicas}
    count = 1 if replicas is None else replicas
    if not levels:
        return {**here, "template": {"spec": {"containers": []}}}, count
    level, *rest = levels
    parts = [draw(contents(rest)) for _ in range(1 if level == "section" else draw(st.integers(0, 3)))]
    inner: Any = [part for part, _ in parts]
    if level == "list":
        inner = [{**part, "name": f"n{index}"} for index, part in enumerate(inner)]
    if level == "map":
        inner = {f"k{index}": part for index, part in enumerate(inner)}
    if level == "section":
        (inner,) = inner
    return {**here, "part": inner}, count * sum(pods for _, pods in parts)


@given(workloads())
def test_draft_counts_pods_of_whole_workload(workload: tuple[Any, Any, int]) -> None:
    schema, obj, pods = workload
    definition = load_definition(draft(kind(schema)).karta)

    assert sum(each.replicas for each in pod_sets(definition, obj)) == pods
    for component in definition.components:
        ids = instance_ids(component, obj)
        assert len(set(ids)) == len(ids)
        if component.instance_ids and component.instance_ids.text.count('"\\(') < 2:  # of two lists within each other
            queries = (component.instance_ids, component.replicas, *component.pod_queries.values())
            assert all(query.is_plain for query in queries if query)
