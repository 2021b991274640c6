"""Every record of an annotation is complete, and what is derived from the records agrees with the parsers."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
import yaml
from msgspec.structs import replace

from docs.tools.write_definitions import DOCS, pages
from karta_interpreter import __version__
from karta_interpreter.base.findings import Finding
from karta_interpreter.base.k8s import edit
from karta_interpreter.definitions.karta import annotation_records
from karta_interpreter.definitions.karta.annotation_records import ANNOTATIONS, NAMES, Annotation, Annotations
from karta_interpreter.definitions.karta.annotations import PREFIX, AggregateRule
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.karta.schema_export import custom_resource_definition, json_schema
from tests.support.rows import rows

Raw = dict[str, Any]
FindingsOf = Callable[[Raw], list[Finding]]
EVERY = rows("record", [pytest.param(each, id=each.name) for each in ANNOTATIONS])
TYPES: dict[str, type] = {"object": dict, "array": list, "string": str}


def workload_with(record: Annotation) -> Raw:
    """A definition that every example fits: a worker that suspends, and ends for the reasons of a Job."""
    failed = [{"byConditions": [{"type": name, "status": "True"}]} for name in ("Failed", "FailureTarget")]
    return {
        "metadata": {"annotations": {PREFIX + record.name: record.example}},
        "spec": {
            "structureDefinition": {
                "rootComponent": {
                    "name": "worker",
                    "kind": {"group": "toys.example.com", "version": "v1", "kind": "Mill"},
                    "specDefinition": {"podTemplateSpecPath": ".spec.template"},
                    "scaleDefinition": {"replicasPath": ".spec.worker.replicas"},
                    "statusDefinition": {
                        "conditionsDefinition": {"path": ".status.conditions"},
                        "statusMappings": {
                            "failed": failed,
                            "running": [{"byConditions": [{"type": "Running", "status": "True"}]}],
                        },
                    },
                    "suspendDefinition": {
                        "suspendActions": [{"path": ".spec.pause", "value": "true"}],
                        "resumeActions": [{"path": ".spec.pause", "value": "false"}],
                    },
                }
            }
        },
    }


def value_of(record: Annotation) -> Any:
    """The value that the schema of a record is about."""
    return record.example if record.schema.get("type") == "string" else yaml.safe_load(record.example)


def expressions(value: Any, schema: Mapping[str, Any]) -> Iterator[str]:
    """Return the jq strings in a value. Raises AssertionError if it does not fit the schema."""
    if "anyOf" in schema:
        yield from first_fit(value, schema["anyOf"])
        return
    assert value in schema.get("enum", [value])
    assert isinstance(value, TYPES[schema.get("type", "string")])
    assert re.search(schema.get("pattern", ""), str(value))
    if isinstance(value, list):
        for item in value:
            yield from expressions(item, schema["items"])
    elif isinstance(value, dict):
        assert value.keys() >= set(schema.get("required", ()))
        for name, item in value.items():
            field = schema.get("properties", {}).get(name) or schema["additionalProperties"]
            assert field, f"there is no field {name}"
            yield from expressions(item, field)
    elif schema.get("format") == "jq":
        yield str(value)


def first_fit(value: Any, schemas: list[Mapping[str, Any]]) -> list[str]:
    for schema in schemas:
        try:
            return list(expressions(value, schema))
        except AssertionError:
            continue
    raise AssertionError(f"{value} fits none of {schemas}")


def test_record_has_no_defaults() -> None:
    """Else the type checker accepts a new annotation without its schema, description or example."""
    assert Annotation.__struct_defaults__ == ()


def test_fields_have_one_record() -> None:
    assert sorted(record.field for record in ANNOTATIONS) == sorted(Annotations.__struct_fields__)
    assert len(set(NAMES)) == len(ANNOTATIONS)


def test_form_of_aggregate_names_every_rule() -> None:
    (form,) = (record.form for record in ANNOTATIONS if record.name == "aggregate")
    assert {rule for rule in AggregateRule if f"`{rule}`" not in form} == set()


@EVERY
def test_example_has_no_findings_and_sets_only_its_field(record: Annotation, findings_of: FindingsOf) -> None:
    raw = workload_with(record)
    found = load_definition(raw).annotations
    assert findings_of(raw) == []
    assert getattr(found, record.field) != getattr(Annotations(), record.field)
    assert replace(found, **{record.field: getattr(Annotations(), record.field)}) == Annotations()


@EVERY
def test_schema_marks_expressions_that_the_parser_compiles(record: Annotation) -> None:
    annotations = load_definition(workload_with(record)).annotations
    compiled = list(annotations.queries())
    assert sorted(expressions(value_of(record), record.schema)) == sorted(query.text for query in compiled)
    for query in compiled:
        assert (query.annotation, query.read_by) == (record.name, record.read_by)


@rows(
    ("name", "value"),
    [
        pytest.param("healthy-statuses", "Runing", id="a status that does not exist"),
        pytest.param("healthy-statuses", " , ", id="no status"),
        pytest.param("operations", "Retain Retain", id="no comma"),
        pytest.param("dependencies", [{"apiVersion": "v1", "kind": "Secret"}], id="a dependency without a name"),
        pytest.param("dependencies", {"pods": ".a"}, id="no list"),
        pytest.param("aggregate", {".status.a": "summ"}, id="a rule that does not exist"),
        pytest.param("lua", {"health": {"luaScript": "x"}}, id="no operation of Karmada"),
        pytest.param("retain", [{"by": ".name"}], id="a rule without a place"),
    ],
)
def test_schema_rejects_values_that_the_parser_rejects(name: str, value: Any) -> None:
    with pytest.raises(AssertionError):
        list(expressions(value, next(record.schema for record in ANNOTATIONS if record.name == name)))


@EVERY
def test_pattern_of_list_allows_blanks_and_empty_items(record: Annotation) -> None:
    pattern = record.schema.get("pattern", "")
    assert re.search(pattern, f" ,{record.example} , {record.example},,")


def test_schemas_and_documentation_have_every_annotation() -> None:
    exported = edit.get(json_schema(__version__), ("properties", "metadata", "properties", "annotations", "properties"))
    version = custom_resource_definition()["spec"]["versions"][0]
    described = version["schema"]["openAPIV3Schema"]["description"]
    page = (DOCS / "fields.md").read_text(encoding="utf-8")
    for record in ANNOTATIONS:
        schema = exported[PREFIX + record.name]
        assert schema["type"] == "string", "an annotation is text, whatever it holds"
        assert schema["examples"] == [record.example]
        assert schema["description"].endswith(".")
        assert "](" not in schema["description"], "links are for the page alone"
        assert f"- {PREFIX}{record.name}: {schema['description']}" in described
        assert f"### {record.name}\nValue: {record.form}.".replace("](#", "](authoring.md#") in page


def test_new_record_makes_documentation_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    new = replace(ANNOTATIONS[0], name="colour")
    monkeypatch.setattr("docs.tools.write_definitions.ANNOTATIONS", (*annotation_records.ANNOTATIONS, new))
    page = pages()[DOCS / "fields.md"]
    assert page.count("### colour\n") == 1
    assert page != (DOCS / "fields.md").read_text(encoding="utf-8")
