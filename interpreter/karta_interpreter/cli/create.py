"""``karta-interpreter create``: drafts of definitions."""

import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

import click

from karta_interpreter.base.command_line import command_line, shown
from karta_interpreter.base.findings import count, did_you_mean, escaped, listed
from karta_interpreter.base.k8s import GVK, Object, edit, grouped
from karta_interpreter.base.k8s.manifest import read_documents
from karta_interpreter.base.k8s.yaml_writer import WIDTH, to_authored_yaml
from karta_interpreter.cli.calls import Arguments, print_line
from karta_interpreter.cli.definitions import interpreter_for, kinds_of
from karta_interpreter.cli.explain import warnings_text
from karta_interpreter.cli.files import EMPTY, check_stdin, named, read_crds, read_objects, write_files
from karta_interpreter.cli.options import (
    LATER,
    NO_OBJECT,
    definitions,
    desired_replica,
    inputs,
    output_dir_option,
)
from karta_interpreter.cli.program import NAME, CommandGroup, Problem, UsageProblem
from karta_interpreter.cli.render import Data, findings_text, one_line, say
from karta_interpreter.definitions.karta import example_files
from karta_interpreter.definitions.karta.loading import load_documents
from karta_interpreter.definitions.openapi.check import contradictions
from karta_interpreter.definitions.openapi.draft import Components, Draft, components_of, draft
from karta_interpreter.definitions.openapi.schema import CustomKind
from karta_interpreter.engine.comparison.cases import case_about
from karta_interpreter.engine.comparison.interpreter import Interpreter, ask
from karta_interpreter.engine.comparison.questions import MEMBERS
from karta_interpreter.engine.explain import never_found, warnings_about
from karta_interpreter.engine.operations import Call, Operation, StatusItem
from karta_interpreter.engine.suites import OBJECT_KEYS, OBJECTS, home_of


@click.group("create", cls=CommandGroup)
def command() -> None:
    """Draft definitions and suites."""


_KARTA_EXAMPLES = """\b
Examples:
  karta-interpreter create karta --crd crd.yaml
  karta-interpreter create karta --crd crds.yaml --kind rabbitmqcluster --version v1beta1
  karta-interpreter create karta --crd crd.yaml --component broker --component proxy
"""
_MOST_COMPONENTS: Final = 10


@command.command("karta", epilog=_KARTA_EXAMPLES)
@inputs("--crd", text="The CRD of the kind")
@click.option(
    "--kind", metavar="KIND", help="The kind to draft for, among those of several; KIND.GROUP where groups share it."
)
@click.option("--version", metavar="VERSION", help="Its version; default: the stored one.")
@click.option(
    "--component", "chosen", multiple=True, metavar="NAME", help="Draft this component only; may be repeated."
)
def karta_command(crd: tuple[str, ...], kind: str | None, version: str | None, chosen: tuple[str, ...]) -> None:
    """Draft a Karta from a CRD's OpenAPI schema.

    A schema shows pods, counts, conditions and a switch to suspend, but not their meaning: comments in the draft name
    what to CHECK. stderr has other findings of `validate`. Of more than ten components --component names some to draft.
    """
    if not crd:
        raise UsageProblem("error: give the CRD of the kind with --crd")
    check_stdin(crd)
    crd_of_kind = _crd(read_crds(crd), kind)
    custom = CustomKind.of(crd_of_kind, version)
    components = _chosen(components_of(custom), chosen)
    _print(draft(custom, components), custom, f"Drafted from the CustomResourceDefinition {custom.crd}.", crd_of_kind)


def _chosen(components: Components, names: Sequence[str]) -> Components:
    """Return the components with these names, all without a name. More than a person can check are a UsageProblem."""
    for name in names:
        if name not in components:
            raise UsageProblem(f"error: --component: there is no component {name}; {did_you_mean(name, components)}")
    if names:
        return {name: components[name] for name in names}
    if len(components) > _MOST_COMPONENTS:
        candidates = ", ".join(f"{shown('name', name)} ({pods.place.jq})" for name, pods in components.items())
        number = len(components)
        raise UsageProblem(f"error: there are {number} components, choose some with --component: {candidates}")
    return components


def _print(drafted: Draft, custom: CustomKind, title: str, crd: Object) -> None:
    text = draft_text(drafted, title)
    say(text, nl=False)
    findings = [*chain.from_iterable(loaded.findings for loaded in load_documents(text, "draft"))]
    findings += contradictions(text, "draft", [crd])
    say(findings_text(finding for finding in findings if not drafted.repeats(finding)), err=True, nl=False)
    say(escaped(f"{custom.gvk}: {count(drafted.checks, 'place')} to CHECK"), err=True)


def _crd(crds: Sequence[Object], kind: str | None) -> Object:
    """Return the CRD of a kind, which one file or several equal ones may have."""
    by_kind = grouped(
        (GVK(str(edit.get(crd, ("spec", "group"))), "", str(edit.get(crd, ("spec", "names", "kind")))), crd)
        for crd in crds
    )
    crd, *others = by_kind[_chosen_kind(by_kind, kind)]
    if any(other != crd for other in others):
        raise UsageProblem("error: several CRDs have the kind, such as those of several releases; give one of them")
    return crd


def _chosen_kind(kinds: Collection[GVK], kind: str | None) -> GVK:
    """Return the kind among several that KIND, KIND.GROUP or GROUP/KIND names. Another one is a UsageProblem."""
    names = {gvk: (gvk.kind, f"{gvk.kind}.{gvk.group}", f"{gvk.group}/{gvk.kind}") for gvk in sorted(kinds)}
    matching = [gvk for gvk in names if kind is None or kind.lower() in map(str.lower, names[gvk])]
    if not matching:
        hint = did_you_mean(str(kind), dict.fromkeys(gvk.kind for gvk in names))
        raise UsageProblem(f"error: --crd: it has nothing for the kind {kind}; {hint}")
    if len(matching) > 1:
        choices = ", ".join(f"{shown('group', gvk.group)}/{shown('kind', gvk.kind)}" for gvk in matching)
        raise UsageProblem(f"error: --crd: choose one with --kind: {choices}")
    return matching[0]


def draft_text(draft: Draft, title: str) -> str:
    """Return the Karta in the order that people write, with each note in the lines above its field."""
    text = to_authored_yaml(draft.karta)
    (document,) = read_documents(text, title)
    lines = text.splitlines()
    above = grouped([(0, title), *((document.position(path)[0] - 1, note) for path, note in draft.notes)])
    written: list[str] = []
    for index, line in enumerate(lines):
        prefix = " " * (len(line) - len(line.lstrip())) + "# "
        wrapper = textwrap.TextWrapper(WIDTH, initial_indent=prefix, subsequent_indent=prefix, break_on_hyphens=False)
        for note in above.get(index, ()):
            written += wrapper.wrap(escaped(note, keep="\n"))
        written.append(line)
    return "".join(f"{line}\n" for line in written)


_EXAMPLES = """\b
Examples:
  karta-interpreter create suite -f karta.yaml --object trainjob.yaml
  karta-interpreter create suite -f karta.yaml --object objects/ --output-dir testdata/
  karta-interpreter create suite -f karta.yaml --object job.yaml --observed-file member.yaml --desired-replica 4
"""


@command.command("example")
@click.argument("folder", default="example", type=click.Path(path_type=Path))
def example_command(folder: Path) -> None:
    """Write a first example: the Karta of an imaginary kind, and one object.

    They are written into FOLDER, by default "example".
    """
    files = example_files()
    _write(folder, files, "name another folder")
    for name in files:
        say(folder / name)
    example = command_line(f"{NAME} interpret -f {{0}} {{1}}", f"{folder}/karta.yaml", f"{folder}/indexer.yaml")
    say(f"try: {example}", err=True)


@command.command("suite", epilog=_EXAMPLES)
@definitions
@click.argument("files", nargs=-1, type=LATER, metavar="[FILE...]")
@inputs("--object", "paths", text="Workloads to ask about, with FILE")
@inputs("--observed-file", "observed", text="The workloads in a member cluster, for Retain")
@desired_replica
@output_dir_option(help="Write a file for each operation there, and the objects that they share.")
def suite_command(
    filenames: tuple[str, ...],
    files: tuple[str, ...],
    paths: tuple[str, ...],
    observed: tuple[str, ...],
    desired_replica: int | None,
    output_dir: Path | None,
) -> None:
    """Draft golden cases for a definition, with today's answers as expected outputs.

    The definition answers all operations about each workload, Retain where --observed-file has an object of the same
    name. Two members report the status of that object, or else of the workload. ReviseReplica gets twice the count,
    or --desired-replica. An answer is only as right as the definition: a TODO in each case marks the reason that an
    author has to write.
    """
    check_stdin((*filenames, *files, *paths, *observed))
    if not (paths := files + paths):
        raise UsageProblem(f"error: {NO_OBJECT}")
    workloads = _workloads(paths, filenames)
    if not workloads:
        raise Problem(f"error: {', '.join(paths)}: it contains no object{EMPTY}")
    members = {named(obj): obj for obj in _workloads(observed, filenames)}
    if strays := members.keys() - set(map(named, workloads)):
        raise UsageProblem(f"error: {', '.join(observed)}: no workload is {', '.join(sorted(strays))}")
    interpreters = {gvk: interpreter_for(gvk, filenames, []) for gvk in dict.fromkeys(map(GVK.of, workloads))}
    cases: dict[str, list[str]] = {}
    shared: dict[str, str] = {}  # the files of objects, by their content
    for workload in workloads:
        interpreter, member = interpreters[GVK.of(workload)], members.get(named(workload))
        for call, fields in _cases(interpreter, workload, member, desired_replica):
            case = fields if output_dir is None else _sharing(fields, shared)
            cases.setdefault(f"{call.operation.lower()}.yaml", []).append(to_authored_yaml(case))
    texts = {name: "---\n".join(some) for name, some in cases.items()}
    if output_dir is None:
        say(Data("---\n".join(texts.values())), nl=False)
    else:
        files_of_objects = {file: text for text, file in shared.items()}
        _write(output_dir, texts | files_of_objects, "print the cases and add them by hand")
    for gvk, interpreter in interpreters.items():
        of_kind = [obj for obj in workloads if GVK.of(obj) == gvk]
        for note in never_found(interpreter.entry.definition, of_kind):
            say(one_line(f"warning: {gvk.kind}: {note}; correct the definition, or add an object"), err=True)
    number = count(sum(map(len, cases.values())), "case")
    place = f" in {output_dir} ({listed(texts)})" if output_dir else ""
    advice = "correct what is wrong, and replace each TODO by the reason"
    run = _how_to_run(output_dir, filenames)
    say(one_line(f"{number} with today's answers{place}: {advice}; {run}"), err=True)


def _sharing(fields: Object, shared: dict[str, str]) -> Object:
    """Return the fields of a case with the files of its objects. ``shared`` has the files by their content."""
    case = dict(fields)
    for key in OBJECT_KEYS:
        if key in fields:
            case[key] = shared.setdefault(to_authored_yaml(fields[key]), f"{OBJECTS}/{len(shared) + 1}.yaml")
    return case


def _workloads(paths: Sequence[str], filenames: Sequence[str]) -> list[Object]:
    objects = list[Object]()
    for path in paths:
        objects += read_objects(path, lambda: kinds_of(filenames))
    return objects


def _how_to_run(output_dir: Path | None, filenames: Sequence[str]) -> str:
    home = output_dir and home_of(output_dir / OBJECTS)
    if home == output_dir:
        return "`test` runs them from a folder testdata beside the Karta"
    options = "".join(f" -f {{{number}}}" for number in range(1, len(filenames) + 1))
    return f"`{command_line(f'{NAME} test {{0}}{options}', home, *filenames)}` runs them"


def _cases(
    interpreter: Interpreter, workload: Object, member: Object | None, replicas: int | None
) -> Iterator[tuple[Call, Object]]:
    say(warnings_text(warnings_about(interpreter.entry.definition, workload)), err=True, nl=False)
    status = (member or workload).get("status")
    items = tuple(StatusItem(cluster, status) for cluster in MEMBERS) if isinstance(status, dict) else None
    if replicas is None and (counted := ask(interpreter, Call(Operation.INTERPRET_REPLICA, workload)).results):
        # Another count than today's, so that the case of ReviseReplica changes something. Zero twice would be zero.
        replicas = 2 * (counted["replica"] or 1)
    elif replicas is None and interpreter.is_asked(Operation.REVISE_REPLICA):
        say(f"{Operation.REVISE_REPLICA} skipped: pass --desired-replica", err=True)
    for call in Arguments(workload, member, items, replicas).calls():
        if interpreter.is_asked(call.operation):
            yield call, case_about(interpreter, call, on_print=print_line)


def _write(folder: Path, texts: Mapping[str, str], advice: str) -> None:
    if existing := [name for name in texts if (folder / name).exists()]:
        raise Problem(f"error: {folder}: these files already exist: {', '.join(existing)}; {advice}")
    write_files(folder, texts)
