"""What the rules of `validate` are for, each with an example that breaks it and one that follows it."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from textwrap import fill, indent
from types import MappingProxyType

import yaml

from karta_interpreter.base.findings import did_you_mean
from karta_interpreter.base.k8s.yaml_writer import to_yaml
from karta_interpreter.cli.program import UsageProblem
from karta_interpreter.definitions.karta import PREFIX
from karta_interpreter.definitions.karta.annotation_records import ANNOTATIONS

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


def rule_text(name: str) -> str:
    """Return what a rule is for, and its examples. Raises UsageProblem if there is none of this name."""
    if name not in rules():
        raise UsageProblem(f"error: there is no rule {name}; {did_you_mean(name, sorted(rules()))}")
    rule = rules()[name]
    examples = "".join(f"\n{title}:\n{indent(rule[title].rstrip(), '  ')}\n" for title in ("bad", "good"))
    return f"{name}\n\n{fill(rule['why'], 100)}\n{examples}"
