"""The pages of reference about definitions: the fields and annotations of a Karta, and the findings of `validate`."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from docs.tools.write_catalogue import table
from karta_interpreter.base.k8s.values import Object
from karta_interpreter.base.k8s.yaml_writer import to_yaml
from karta_interpreter.definitions.karta.annotation_records import ANNOTATIONS, Annotation
from karta_interpreter.definitions.karta.annotations import PREFIX
from karta_interpreter.definitions.karta.rules import NO_ANSWER, REFUSED, RULES
from karta_interpreter.definitions.karta.schema_export import REFERENCE, model_schema
from karta_interpreter.engine.operations import Operation

DOCS = Path(__file__).parents[1]
WRITTEN_BY = "<!-- written by docs/tools/write_definitions.py -->"
_SOURCE = DOCS.parent / "interpreter" / "karta_interpreter"
_ROOMS = {
    "Definitions": ("definitions/karta", "base/ignores.py"),
    "Contradictions to a CRD": ("definitions/openapi/check", "cli/validate.py"),
    "Scripts and customizations": ("languages/lua",),
    "Several definitions": (
        "definitions/sources/snapshot.py",
        "webhook/admission.py",
        "webhook/registration/configuration.py",
    ),
}
_RULE = re.compile(r"[a-z]+(-[a-z]+)*")
_ELSEWHERE = {
    "crd-missing": "there is no CRD for the kind. An error if the files of `--crd` have none for any definition",
    "crd-version": "the CRD does not have the version of the definition",
    "expression-refused": "a construct of jq that no expression may have, such as `input` or an assignment",
    "expression-syntax": "the expression is not jq",
    "lua-syntax": "the script is not Lua",
    "not-a-karta": "the document is not a Karta",
    "parameter-count": "the function has another number of parameters than it is called with",
    "replicas-not-writable": 'the component "…" is elastic, but no number can be written through this expression',
    "schema": "a field that is missing, or of another type than the schema gives it",
    "unreadable": "the file is not YAML, or cannot be read",
}
"""The meaning of rules whose message comes from elsewhere, such as a parser, or has many forms."""


def pages() -> dict[Path, str]:
    """Every page by its path."""
    return {DOCS / "fields.md": fields(), DOCS / "findings.md": findings()}


def fields() -> str:
    """Return the page of the fields and annotations of a Karta."""
    schema = model_schema()
    parts = "\n".join(f"### {name}\n{part['description']}\n\n{_fields(part)}" for name, part in _parts("Spec", schema))
    return f"""{WRITTEN_BY}
# Fields and annotations of a Karta

A Karta has `apiVersion: run.ai/v1alpha1`, `kind: Karta`, `metadata.name`, and below `spec` the fields of [Spec](#spec).
[Writing a Karta](authoring.md) explains them. The [JSON Schema](karta.schema.json) has the same fields for editors.

## Fields
{parts}
## Annotations
Each name has the prefix `{PREFIX}`.

{"".join(map(_annotation, ANNOTATIONS)).rstrip()}
"""


def _parts(name: str, schema: Object) -> Iterator[tuple[str, Object]]:
    """Yield a part of the model and, once each, the parts that its fields name."""
    found, waiting = [], [name]
    while waiting:
        name = waiting.pop(0)
        if name not in found:
            found.append(name)
            yield name, schema[name]
            waiting[:0] = re.findall(rf"{REFERENCE}(\w+)", str(schema[name]))


def _fields(part: Object) -> str:
    required = part.get("required", ())
    rows = [
        [f"`{name}`", f"{_type(field)}{', required' if name in required else ''}", field.get("description", "")]
        for name, field in part.get("properties", {}).items()
    ]
    return table(["field", "type", "what"], rows)


def _type(field: Object) -> str:
    """Return the type of a field, with a link where it is a part of the model."""
    if "$ref" in field:
        name = field["$ref"].removeprefix(REFERENCE)
        return f"[{name}](#{name.lower()})"
    if field.get("type") == "array":
        return f"list of {_type(field['items'])}"
    if isinstance(values := field.get("additionalProperties"), dict):
        return f"object of {_type(values)}s"
    return str(field.get("type", "any"))


def _annotation(record: Annotation) -> str:
    """Return the section of an annotation; its links are relative to the guide."""
    value, what = (text.replace("](#", "](authoring.md#") for text in (record.form, record.description))
    example = to_yaml({"metadata": {"annotations": {PREFIX + record.name: record.example}}})
    readers = (
        "every operation" if len(record.read_by) == len(Operation) else ", ".join(sorted(record.read_by)) or "none"
    )
    facts = f"Value: {value}.\n\nEffect: {what}.\n\nRead by: {readers or 'none'}. An exported script {record.exported}."
    return f"### {record.name}\n{facts}\n\n```yaml\n{example}```\n\n"


def findings() -> str:
    """Return the page of all rules."""
    sections = [
        f"## {title}\n{table(['rule', 'severity', 'message'], sorted(_rules(*rooms)))}"
        for title, rooms in _ROOMS.items()
    ]
    return f"""{WRITTEN_BY}
# Findings of `validate`

A finding has its rule in brackets, a place and mostly a hint. A definition or script with an error is not used. One
with warnings is used. In the messages `…` stands for the parts that differ. A fault in the value of an annotation has
the rule `annotation-NAME`, such as `annotation-elastic`. Findings of one file that say the same about the same text are
printed once, with the other places below. The server logs the same findings.

`karta-interpreter explain RULE` shows what a rule is for, with an example that breaks it and one that follows it.
A comment [ignores a finding](authoring.md#ignoring-a-finding).

## Errors of definitions
An error means that no right answer can be given. What else Karta's own webhook refuses is a warning that begins with
"{REFUSED}". The definition is used, and what needs the missing part says what it lacks.

{table(["rule", "why there is no right answer"], [[f"`{rule}`", why] for rule, why in NO_ANSWER.items()])}
{chr(10).join(sections).rstrip()}
"""


def _rules(*rooms: str) -> Iterator[list[str]]:
    """Yield rule, severity and message of each finding that some modules make, as records or code have them."""
    seen = set()
    if rooms == _ROOMS["Definitions"]:
        for rule, (message, _) in RULES.items():
            level = "error" if rule in NO_ANSWER else "warning"
            seen.add((rule, level))
            yield [f"`{rule}`", level, _ELSEWHERE.get(rule, re.sub(r"\{\w+\}", "…", message))]
    for room in rooms:
        for file in sorted((_SOURCE / room).rglob("*.py")) or [_SOURCE / room]:
            for function in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(function, ast.FunctionDef):
                    for rule, severity, message in _findings(function):
                        if (rule, severity) not in seen:
                            seen.add((rule, severity))
                            yield [f"`{rule}`", severity, _ELSEWHERE.get(rule, message)]


def _findings(function: ast.FunctionDef) -> Iterator[tuple[str, str, str]]:
    """Yield rule, severity and message of each finding that a function makes."""
    texts: dict[str, str] = {}
    nodes = (node for node in ast.walk(function) if isinstance(node, ast.Assign | ast.Call))
    for node in sorted(nodes, key=lambda node: node.lineno):
        if isinstance(node, ast.Assign):
            texts.update(_assigned(node.targets[0], node.value, texts))
        elif words := _words(node, texts):
            yield words


def _assigned(target: ast.expr, value: ast.expr, texts: dict[str, str]) -> Iterator[tuple[str, str]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for each, its in zip(target.elts, value.elts, strict=True):
            yield from _assigned(each, its, texts)
    elif isinstance(target, ast.Name):
        yield target.id, _text(value, texts)


def _words(call: ast.Call, texts: dict[str, str]) -> tuple[str, str, str] | None:
    """Return rule, severity and message when a call makes a finding: ``error(…)``, ``Lint("error", …)`` or the like."""
    name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
    maker = texts.get(name, name)
    match maker, *(_text(each, texts) for each in call.args):
        case ["warn", message, _, rule]:
            severity, found = "warning", [message]
        case ["Lint", severity, rule, *found] | ["partial", "", severity, rule, *found]:
            pass
        case ["error" | "warning" | "_error" | "_warning", rule, *found]:
            severity = maker.removeprefix("_")
        case _:
            return None
    return (rule, severity, next(filter(None, found), "")) if found and _RULE.fullmatch(rule) else None


def _text(node: ast.expr, texts: dict[str, str]) -> str:
    """Return a text of the code, with … for what it has only at run time; empty for anything else."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_text(part, texts) or "…" for part in parts)
        case ast.Name(id="error" | "warning" as maker):
            return maker
        case ast.FormattedValue(value=ast.Name(id=name)) | ast.Name(id=name):
            return texts.get(name, "")
        case ast.IfExp(body=body):
            return _text(body, texts)
    return ""
