"""What is kept of a CRD's schema, and how the schemas of several releases become one."""

from karta_interpreter.base.k8s import Object
from tests.proofs.drift.schemas import interned, pruned, united


def test_types_fields_and_texts_are_kept() -> None:
    size = {"type": "integer", "description": "many words", "default": 1, "minimum": 0, "format": "int32"}
    phase = {"anyOf": [{"enum": ["a"], "pattern": "a"}, {"enum": ["b"]}], "x-kubernetes-list-type": "set"}
    fields = {"size": size, "phase": phase, "description": {"type": "string"}}
    schema: Object = {"type": "object", "properties": fields, "required": ["phase", "size"]}

    assert pruned(schema) == {
        "type": "object",
        "required": ["phase"],  # the API server writes a default
        "properties": {
            "size": {"type": "integer"},
            "phase": {"anyOf": [{"enum": ["a"]}, {"enum": ["b"]}], "x-kubernetes-list-type": "set"},
            "description": {"type": "string"},
        },
    }


def test_schema_of_several_releases_allows_what_one_of_them_allows() -> None:
    older: Object = {
        "required": ["a", "b"],
        "properties": {"a": {"type": "string", "enum": ["x"]}, "b": {"type": "integer"}, "c": {"type": "string"}},
    }
    newer: Object = {
        "required": ["b", "d"],
        "properties": {"a": {"type": "string", "enum": ["y"]}, "b": {"type": "string"}, "d": {"type": "boolean"}},
        "x-kubernetes-preserve-unknown-fields": True,
    }

    assert united(older, newer) == {
        "required": ["b"],
        "properties": {
            "a": {"type": "string", "enum": ["x", "y"]},
            "b": {},
            "c": {"type": "string"},
            "d": {"type": "boolean"},
        },
        "x-kubernetes-preserve-unknown-fields": True,
    }


def test_texts_are_limited_only_if_all_releases_limit_them() -> None:
    limited: Object = {"items": {"type": "string", "enum": ["x"]}}

    assert united(limited, {"items": {"type": "string"}}) == {"items": {"type": "string"}}
    assert united(limited, {"additionalProperties": {}}) == {**limited, "additionalProperties": {}}


def test_open_part_of_one_release_stays_open() -> None:
    is_open: Object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}

    assert united({"type": "object", "additionalProperties": {"type": "string"}}, is_open) == is_open


def test_equal_parts_are_one_node() -> None:
    nodes: dict[str, int] = {}
    part: Object = {"type": "array", "items": {"type": "string"}}

    root = interned({"properties": {"b": part, "a": part}}, nodes)

    assert [*nodes] == [
        '{"type":"string"}',
        '{"items":0,"type":"array"}',
        '{"properties":{"a":1,"b":1}}',
    ]
    assert root == 2
