"""What the rules of `validate` are for, each with an example that breaks it and one that follows it."""

from collections.abc import Mapping
from functools import cache
from itertools import chain
from pathlib import Path
from textwrap import fill, indent
from types import MappingProxyType
from typing import Any, cast

import yaml

from karta_interpreter import __version__
from karta_interpreter.base.findings import closest
from karta_interpreter.base.k8s.yaml_writer import to_yaml
from karta_interpreter.cli.program import UsageProblem
from karta_interpreter.definitions.karta import PREFIX
from karta_interpreter.definitions.karta.annotation_records import ANNOTATIONS
from karta_interpreter.definitions.karta.catalogue import catalogue_kinds
from karta_interpreter.definitions.karta.schema_export import json_schema

_OF_ANNOTATION = "annotation-"


@cache
def rules() -> Mapping[str, Mapping[str, str]]:
    """Return the purpose and the examples of each rule by its name."""
    written = yaml.safe_load(Path(__file__).with_name("rules.yaml").read_text(encoding="utf-8"))
    of_annotations = {
        f"{_OF_ANNOTATION}{record.name}": {
            "why": f"The value of the annotation {record.name} must be: {record.form}.",
            "bad": f"{PREFIX}{record.name}: '['",
            "good": to_yaml({PREFIX + record.name: record.example}),
        }
        for record in ANNOTATIONS
        if record.schema.get("format") != "jq"  # its faults are those of an expression
    }
    return MappingProxyType(written | of_annotations)


def described(name: str) -> str:
    """Return what a rule, a field or an annotation is for, or an empty text if nothing has this name.

    Raises UsageProblem for a typo in the name of a rule, a field or an annotation.
    """
    if rule := rules().get(name):
        examples = "".join(f"\n{title}:\n{indent(rule[title].rstrip(), '  ')}\n" for title in ("bad", "good"))
        return f"{name}\n\n{fill(rule['why'], 100)}\n{examples}"
    fields = _fields()
    found = [(part, own[name]) for part, own in fields.items() if name in own]
    known = {*rules(), *chain.from_iterable(fields.values())}
    meant = "" if found else closest(name, [*known, *(gvk.kind for gvk in catalogue_kinds())])
    if meant in known:
        raise UsageProblem(f"error: there is no rule or field {name}; did you mean {meant}?")
    return "".join(f"{name}, of {part}\n{indent(fill(text, 98), '  ')}\n" for part, text in found)


def _fields() -> Mapping[str, Mapping[str, str]]:
    """Return what each field and annotation is for, by the part of a Karta that has it."""
    schema = cast("dict[str, Any]", json_schema(__version__))
    annotations = schema["properties"]["metadata"]["properties"]["annotations"]
    types = {"annotation": annotations, **schema["definitions"]}
    return {
        part: {
            name.removeprefix(PREFIX): field.get("description", "") for name, field in own.get("properties", {}).items()
        }
        for part, own in types.items()
    }
