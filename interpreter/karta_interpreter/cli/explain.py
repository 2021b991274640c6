"""``karta-interpreter explain``: the reasons for an answer, and the fields that a definition reads per operation.

Other commands print explanations and warnings in the same form.
"""

import re
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path
from textwrap import fill, indent, wrap
from types import MappingProxyType
from typing import Any, Final, cast

import click
import yaml

from karta_interpreter import __version__
from karta_interpreter.base.findings import closest, escaped
from karta_interpreter.base.k8s import JSON, Object, field_path, full_name, parts_within
from karta_interpreter.base.k8s.yaml_writer import to_yaml
from karta_interpreter.cli import options
from karta_interpreter.cli.answers import short
from karta_interpreter.cli.calls import Arguments, calls_for, operation_named, print_line
from karta_interpreter.cli.definitions import definitions_named
from karta_interpreter.cli.files import STDIN, check_stdin, file_given, is_path, read_objects, read_references
from karta_interpreter.cli.options import (
    complete_kinds_and_files,
    definitions,
    file_option,
    inputs,
    operation_option,
    output,
)
from karta_interpreter.cli.program import Problem, UsageProblem
from karta_interpreter.cli.render import one_line, say, text_of, written
from karta_interpreter.definitions.karta import PREFIX, Known, catalogue_files, catalogue_kinds, is_definition
from karta_interpreter.definitions.karta.annotation_records import ANNOTATIONS
from karta_interpreter.definitions.karta.schema_export import json_schema
from karta_interpreter.definitions.sources.files import ORIGIN
from karta_interpreter.engine.comparison.interpreter import Interpreter
from karta_interpreter.engine.explain import (
    Explanation,
    Fact,
    Place,
    explain,
    outline,
)
from karta_interpreter.engine.operations import CHANGED, Call, Operation, Options

STRICT = "Exit with 3 after a warning."
_STRICT_CODE = 3  # 1 is a failure, 2 wrong usage

_EXAMPLES = """\b
Examples:
  karta-interpreter explain RayCluster
  karta-interpreter explain raycluster.yaml
  karta-interpreter explain crd-unread
  karta-interpreter explain replicasPath
  karta-interpreter explain raycluster.yaml --operation InterpretHealth --strict
  kubectl get rayjob demo -o yaml | karta-interpreter explain -
"""


@click.command("explain", epilog=_EXAMPLES)
@click.argument("target", required=False, metavar="[KIND|FILE|FIELD|RULE]", shell_complete=complete_kinds_and_files)
@file_option("--object", "--desired-file", "path", help='The workload, instead of FILE: file or "-".')
@operation_option("--operation", help="Explain one operation.")
@file_option("--observed-file", help="The object in a member cluster, for Retain.")
@options.status_file
@options.desired_replica
@options.components
@options.references
@options.answer_options
@definitions
@inputs("--override", "overrides", text="Customizations whose scripts override the definition")
@click.option("--strict", is_flag=True, help=STRICT)
@output("text", "json", "yaml")
def command(
    target: str | None,
    path: str | None,
    operation: str | None,
    filenames: tuple[str, ...],
    overrides: tuple[str, ...],
    output: str,
    *,
    strict: bool,
    **given: JSON,
) -> None:
    """Show why an answer is what it is.

    FILE holds an object, "-" is stdin: for each operation the command shows which layer answers, and the chain from the
    answer to the object. For a KIND of the catalogue, or a FILE with a Karta, it shows the expressions that each
    operation reads. Without KIND and FILE it does so for the definitions in -f. The exit code is 1 when an operation
    gives an error.

    For a FIELD or an annotation of a Karta it shows the purpose, and for a RULE of `validate` also a bad and a good
    example.
    """
    selected = operation_named(operation) if operation is not None else None
    if target in list(Operation):
        raise UsageProblem(f"error: {target} is an operation: explain KIND --operation {target}")
    if target and path and not is_path(target):
        raise UsageProblem(
            f"error: --object explains the answers on an object, with all its components; {target} without --object "
            "is for a kind, a field or a rule, and --operation for an operation: give one of them"
        )
    file = None if target and not is_path(target) else file_given(target, path)
    if target and not (file or filenames) and (text := described(target)):
        say(text, nl=False)
        return
    files = [file, given["observed_file"], given["status_file"], *given["references"], *filenames, *overrides]
    check_stdin(filter(None, files))
    # Standard input is an object, because it is read once.
    if file is None or (path is None and file != STDIN and any(map(is_definition, read_objects(file)[:1]))):
        if not (target or filenames):
            raise UsageProblem("error: give a KIND, a FILE with an object, --object FILE, or definitions with -f FILE")
        paths = (file,) if file else filenames
        kinds = [target] if target and not file else []
        for definition in definitions_named(kinds, paths):
            origin = definition.source if paths else ORIGIN
            questions = [selected] if selected else [*Operation]
            explanations = [outline(definition, question, origin=origin) for question in questions]
            title = f"{definition.gvk.kind} {definition.gvk.api_version}, by {definition.name} ({origin})"
            _print(title, explanations, output)
        return
    arguments = Arguments.read(
        filenames,
        desired=file,
        observed=given["observed_file"],
        items=given["status_file"],
        replicas=given["desired_replica"],
        components=given["components"],
    )
    interpreter, calls = calls_for(arguments, operation, filenames, overrides)
    references = read_references(given["references"], interpreter.entry.definition, given["options"].looked_up)
    show(interpreter, calls, references, output, given["options"], strict=strict)


def show(
    interpreter: Interpreter,
    calls: Sequence[Call],
    references: Sequence[Object],
    form: str,
    options: Options,
    *,
    strict: bool,
) -> None:
    """Print the explanations of calls about one object. Exit with 1 for an error, 3 for a warning if ``strict``."""
    definition, origin = interpreter.entry.definition, interpreter.entry.origin
    explanations = []
    for call in calls:
        explanation = explain(
            definition, call, options, origin=origin, reader=Known.of(references), on_print=print_line
        )
        if broken := interpreter.broken.get(call.operation):
            explanation = replace(explanation, facts=(), results=None, error=f"{broken.location}{broken.message}")
        explanations.append(explanation)
    names = {f"{call.object['kind']} {full_name(call.object.get('metadata'))}" for call in calls}
    _print(f"{', '.join(sorted(names))}, by {definition.name} ({origin})", explanations, form)
    if any(explanation.error for explanation in explanations):
        raise SystemExit(Problem.exit_code)
    exit_if_strict([*chain.from_iterable(explanation.warnings for explanation in explanations)], strict=strict)


def exit_if_strict(warnings: Sequence[Fact], *, strict: bool) -> None:
    """Exit with 3 for a warning if ``strict``."""
    if strict and any(fact.severity for fact in warnings):
        raise SystemExit(_STRICT_CODE)


def _print(title: str, explanations: Sequence[Explanation], form: str) -> None:
    if form in ("json", "yaml"):
        document = {"title": title, "explanations": [explanation.to_json() for explanation in explanations]}
        say(written(document, form), nl=False)
    else:
        say(f"{click.style(one_line(title), bold=True)}\n\n{explanations_text(explanations)}\n{_BEFORE}")


_INDENT: Final = "  "
_NARROW, _WIDE = 60, 140
_LONGEST: Final = 500
_MOST_PLACES: Final = 8

_BEFORE: Final = "A ResourceInterpreterCustomization of the control plane\nanswers first, if one has the operation."
_COLOURS: Final = {"warning": "yellow", "matched": "green", "nearly": "magenta", "stopped": "red"}
_PREFIX: Final = "spec.structureDefinition."
_WARNING: Final = click.style("warning", fg="yellow", bold=True)


def explanations_text(explanations: Iterable[Explanation]) -> str:
    """Return each answer, which layer gives it, and below it the facts, as wide as the terminal or ``$COLUMNS``."""
    columns, shown = max(_NARROW, min(_WIDE, shutil.get_terminal_size((100, 24)).columns)), set[tuple[str, str]]()
    texts = list[str]()
    for explanation in explanations:
        lines = _lines(explanation, columns, shown)
        texts.append(text_of(lines))
    return "\n".join(texts)


def _lines(explanation: Explanation, columns: int, shown: set[tuple[str, str]]) -> Iterator[str]:
    yield click.style(str(explanation.call.operation), bold=True)
    if explanation.error:
        yield from _wrapped(f"error: {explanation.error}", columns, 1)
    for name, value in (explanation.results or {}).items():
        # Of a changed object, only the facts are shown.
        text = "see below" if name in CHANGED else short(value)
        yield from _wrapped(f"{name}: {text}", columns, 1)
    answering = " and ".join(layer.note for layer in explanation.layers if layer.answers) or "nothing"
    yield from _wrapped(f"by {answering}; without it Karmada has {explanation.layers[-1].note}", columns, 1)
    # Most operations read the same expressions.
    above = [fact for fact in explanation.facts if fact.rule == "reads" and (fact.field, fact.expression) in shown]
    if above:
        yield from _wrapped(f"reads as above: {', '.join(map(_again, above))}", columns, 1)
    shown |= {(fact.field, fact.expression) for fact in explanation.facts}
    for fact in explanation.facts:
        if fact in above:
            continue
        label = str(fact.severity or fact.rule)
        first_line, *further_lines = _wrapped(f"{label}: {fact.note}", columns, 1)
        yield from (first_line.replace(label, click.style(label, fg=_COLOURS.get(label, "cyan")), 1), *further_lines)
        for detail in _details(fact):
            yield from _wrapped(detail, columns, 3)


def _again(fact: Fact) -> str:
    name = fact.field.rpartition(".")[2] if fact.component else ""
    return f"{fact.note} {name}".rstrip()


def _wrapped(text: str, columns: int, depth: int) -> list[str]:
    indent = _INDENT * depth
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}… (-o json has it whole)"
    return wrap(
        escaped(text), columns, initial_indent=indent, subsequent_indent=f"{indent}{_INDENT}",
        break_long_words=False, break_on_hyphens=False,
    ) or [indent]  # fmt: skip


def _details(fact: Fact) -> Iterator[str]:
    if fact.expression or fact.rule in ("matched", "nearly"):
        yield ": ".join(filter(None, [fact.field.removeprefix(_PREFIX), " ".join(fact.expression.split())]))
    yield from map(place_text, fact.places[:_MOST_PLACES])
    if len(fact.places) > _MOST_PLACES:
        yield f"and {len(fact.places) - _MOST_PLACES} places more"
    if fact.rule in ("written", "retained"):
        yield f"becomes {short(fact.value)}"
    elif fact.writes:
        yield f"a new count is written to {', '.join(fact.writes)}"


def place_text(place: Place) -> str:
    """Return a place with its value in one line. A long value is left out.

    >>> place_text(Place(("status", "active"), 2, source="items", cluster="north"))
    'north status.active = 2'
    """
    text = field_path(place.path)
    if place.cluster:
        text = f"{place.cluster} {text}"
    elif place.source not in ("", "object"):
        text = f"{place.source} {text}"
    if not place.exists:
        return f"{text} is not set"
    value = short(place.value)
    is_cut = isinstance(place.value, dict | list) and value.endswith("...")
    return text if is_cut else f"{text} = {value}"


def warnings_text(warnings: Iterable[Fact]) -> str:
    """Return each warning, and what is no fault, in one line, once."""
    lines = dict.fromkeys(f"{_WARNING if fact.severity else 'note'}: {escaped(fact.note)}\n" for fact in warnings)
    return "".join(lines)


_OF_ANNOTATION = "annotation-"
_SHORTEST = 4  # letters of a word, and not of the short name of a kind


@cache
def rules() -> Mapping[str, Mapping[str, str]]:
    """Return the purpose of each rule by its name, and its examples if it has some."""
    texts = yaml.safe_load(Path(__file__).with_name("rules.yaml").read_text(encoding="utf-8"))
    of_annotations = {
        f"{_OF_ANNOTATION}{record.name}": {
            "why": record.property_schema["description"],
            "bad": f"{PREFIX}{record.name}: '['",
            "good": to_yaml({PREFIX + record.name: record.example}),
        }
        for record in ANNOTATIONS
        if record.schema.get("format") != "jq"  # its faults are those of an expression
    }
    return MappingProxyType(texts | of_annotations)


def described(name: str) -> str:
    """Return the purpose of a rule, a field or an annotation, or an empty text if nothing has this name.

    Raises UsageProblem for a typo in the name of a rule, a field or an annotation.
    """
    if re.fullmatch(r"(?i)karta|(karta\.)?spec", name):
        name = "structureDefinition"
    elif re.match(r"(?i)(karta\.)?spec\.", name):
        name = name.rpartition(".")[2]
    else:
        name = name.removeprefix(PREFIX)
    if rule := rules().get(name):
        text = f"{name}\n\n{fill(rule['why'], 100)}\n"
        for title in ("bad", "good"):
            if title in rule:
                text += f"\n{title}:\n{indent(rule[title].rstrip(), '  ')}\n"
        return text
    fields = _purposes()
    if name not in fields:
        kinds = dict.fromkeys(gvk.kind for gvk in catalogue_kinds())
        suggestion = closest(name, [*rules(), *fields, *kinds])
        if suggestion and suggestion not in kinds:
            raise UsageProblem(f"error: there is no rule or field {name}; did you mean {suggestion}?")
        return ""
    owners = fields[name]
    described = "".join(f"{name}, of {owner}\n{indent(fill(text, 98), '  ')}\n" for owner, text in owners.items())
    example = _example(name, owners)
    return f"{described}\nexample:\n{indent(example, '  ')}" if example else described


@cache
def _purposes() -> dict[str, dict[str, str]]:
    """Return what each field and annotation is for, by its name and by the part of a Karta that has it."""
    schema = cast("dict[str, Any]", json_schema(__version__))
    types = {"annotation": schema["properties"]["metadata"]["properties"]["annotations"], **schema["definitions"]}
    purposes: dict[str, dict[str, str]] = {}
    for owner, fields_of_type in types.items():
        for name, field in fields_of_type.get("properties", {}).items():
            purposes.setdefault(name.removeprefix(PREFIX), {})[owner] = field.get("description", "")
    return purposes


def _example(field: str, owners: Collection[str]) -> str:
    """Return an annotation's example, or the shortest text in the catalogue of a field that only one part has."""
    for record in ANNOTATIONS:
        if record.name == field:
            return to_yaml({PREFIX + field: record.example})
    texts = list[str]()
    if len(owners) == 1:
        for spec in _catalogue_specs():
            texts += [to_yaml({field: value}) for value in _values(spec, field)]
    return min(texts, key=lambda text: (" ." not in text, len(text)), default="")  # a path says more than a constant


@cache
def _catalogue_specs() -> list[JSON]:
    return [karta["spec"] for path in catalogue_files() for karta in read_objects(str(path))]


def _values(spec: JSON, field: str) -> Iterator[JSON]:
    for at, value in parts_within(spec):
        if value and at[-1:] == (field,) and "matchLabels" not in at[:-1]:
            yield value
