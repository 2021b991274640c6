"""The definition and the scripts that answer for a kind, from the given files or from the catalogue."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from msgspec import Struct, structs

from karta_interpreter.base.findings import Finding, Severity, escaped
from karta_interpreter.base.k8s import CORE_KINDS, GVK, Object
from karta_interpreter.cli.files import (
    STDIN,
    check_path,
    check_stdin,
    exists,
    missing,
    read_references,
    read_stream,
    read_texts,
)
from karta_interpreter.cli.options import MemberOptions, Sources
from karta_interpreter.cli.program import Problem, UsageProblem
from karta_interpreter.cli.render import findings_text, say
from karta_interpreter.definitions.karta import (
    Definition,
    catalogue_kinds,
    kartas_path,
    name_of,
)
from karta_interpreter.definitions.karta.schema import OTHER_FILES
from karta_interpreter.definitions.sources import (
    EVERYTHING,
    DefinitionFile,
    Folder,
    Overrides,
    Quarantined,
    Selection,
    ServedDefinition,
    Snapshot,
    SourceDefinitions,
    Store,
    combine,
    decode,
    find_in_catalogue,
    layer_of,
    load_catalogue,
)
from karta_interpreter.definitions.sources.cluster_karta import ClusterKarta
from karta_interpreter.definitions.sources.snapshot import kind_hint
from karta_interpreter.engine.comparison.interpreter import Interpreter
from karta_interpreter.languages.lua.customization import KIND, LoadedCustomization, load_customizations, merge

if TYPE_CHECKING:
    from karta_interpreter.definitions.sources.api_server import ApiServer
    from karta_interpreter.engine.workload import Workload

_Result = TypeVar("_Result")


class NoDefinition(Problem):
    """A kind has no definition."""


class DefinitionFiles(Struct, frozen=True):
    """The Kartas and customizations of a path, and the files that they were read from."""

    layer: SourceDefinitions
    customizations: tuple[LoadedCustomization, ...] = ()
    files: tuple[DefinitionFile, ...] = ()
    path: str = ""


def read_definition_files(path: str) -> DefinitionFiles:
    """Return the Kartas and the customizations in a file, a folder or standard input."""
    check_path(path)
    folder = Folder(Path(path), DefinitionFile, links_out=False)
    content = read_stream(path)
    if content is None:
        folder = folder.read()
    else:
        # A path cannot have the two slashes of a scheme.
        name = path.rpartition("://")[2]
        if path == STDIN:
            name = "stdin"
        file = DefinitionFile(Path(name)).holding(content)
        folder = replace(folder, files={file.path: file})
    layer = layer_of(folder)
    files = tuple(folder.files.values())
    customizations = tuple(chain.from_iterable(map(_customizations, files)))
    places = {(customization.source, customization.line) for customization in customizations}
    broken = tuple(quarantined for quarantined in layer.quarantined if not _is_at(quarantined, places))
    return DefinitionFiles(structs.replace(layer, quarantined=broken), customizations, files, path)


def _is_at(broken: Quarantined, places: Collection[tuple[str, int]]) -> bool:
    # A document that is not a Karta may be a customization.
    return any(
        finding.rule == "not-a-karta" and (finding.source, finding.line) in places for finding in broken.findings
    )


def read_existing(paths: Sequence[str]) -> list[DefinitionFiles]:
    """Return the definitions of paths. A path that does not exist is wrong usage, as for all other files."""
    files = [read_definition_files(path) for path in paths]
    for path in paths:
        if not (path == STDIN or exists(path)):
            raise missing(path)
    return files


def holds_objects(path: str) -> bool:
    """Return whether a path exists and has objects in it, but no definition."""
    findings = _findings_of(read_definition_files(path).layer.quarantined)
    return {finding.rule for finding in findings} == {"not-a-karta"}


def _findings_of(documents: Iterable[Quarantined | LoadedCustomization]) -> list[Finding]:
    findings = list[Finding]()
    for document in documents:
        findings += document.findings
    return findings


def _customizations(file: DefinitionFile) -> Iterable[LoadedCustomization]:
    # Reading YAML is slow, and a text without the name of the kind need not be read again.
    if KIND.encode() not in file.content:
        return ()
    text, _ = decode(file.content)
    # Without a line: no customization, or unreadable. The layer of Kartas has that finding already.
    return (customization for customization in load_customizations(text, str(file.path)) if customization.line)


def interpreter_for(gvk: GVK, paths: Sequence[str], overrides: Sequence[str]) -> Interpreter:
    """Return the definition of a kind, from the given files or else the catalogue, and the scripts that override it.

    Scripts of ``overrides`` take precedence over those in the given files. Findings that may be about this kind go to
    stderr.
    """
    stronger = list[LoadedCustomization]()
    for source, text in chain.from_iterable(map(read_texts, overrides)):
        stronger += load_customizations(text, source)
    # Other objects are among them with a finding.
    if unused := _findings_of(customization for customization in stronger if not customization.line):
        say(findings_text(unused), err=True, nl=False)
        raise SystemExit(Problem.exit_code)
    if overrides and not stronger:
        raise Problem(f"error: {', '.join(overrides)}: there is no {KIND} in it")
    if overrides and not _about(gvk, stronger):
        say(escaped(f"warning: the overrides have no script for {gvk}, only for {stronger[0].gvk}"), err=True)
    if paths:
        return interpreter_of(gvk, read_existing(paths), stronger)
    files = list[DefinitionFiles]()
    if entry := find_in_catalogue(gvk):
        files.append(DefinitionFiles(SourceDefinitions((entry,))))
    try:
        return interpreter_of(gvk, files, stronger)
    except NoDefinition:
        raise NoDefinition(f"error: the catalogue has no definition for {gvk}; {_advice(gvk)}") from None


def _advice(gvk: GVK) -> str:
    if gvk.api_version == "v1" and gvk.kind in CORE_KINDS:
        return "kinds without pods need none"
    hint = kind_hint(f"{gvk.api_version}/{gvk.kind}", map(_name_of, catalogue_kinds()), "")
    return f"give one with -f; {hint}" if hint else "give one with -f"


def _name_of(gvk: GVK) -> str:
    return f"{gvk.api_version}/{gvk.kind}"


def interpreter_of(
    gvk: GVK, given: Sequence[DefinitionFiles], overrides: Iterable[LoadedCustomization] = ()
) -> Interpreter:
    """Return the definition of a kind in files that were read, and its scripts. Raises NoDefinition."""
    weaker = _about(gvk, chain.from_iterable(files.customizations for files in given))
    stronger = _about(gvk, overrides)
    defined = set(chain.from_iterable(map(kinds_in, given)))
    has_definitions = bool(defined) or not all(
        _is_other_object(broken) for files in given for broken in files.layer.quarantined
    )
    # In two steps, for two precedences: scripts of the given files over their Kartas, scripts of `overrides` over both.
    layers = [_layer_about(gvk, files.layer, has_definitions=has_definitions) for files in given]
    below = combine(layers, scripts_of(weaker))
    combined = combine([SourceDefinitions(tuple(below.entries.values()))], scripts_of(stronger))
    files_are_right = print_findings(below, combined)
    if gvk not in combined.entries:
        reason = _why_undefined(gvk, defined, files_are_right=files_are_right)
        raise NoDefinition(f"error: the given files have no definition for {gvk}; {reason}")
    answered = frozenset[str]().union(*(customization.scripts.operations for customization in stronger))
    return Interpreter(combined.entries[gvk], _broken(weaker, answered) | _broken(stronger), files_are_right)


def _layer_about(gvk: GVK, layer: SourceDefinitions, *, has_definitions: bool) -> SourceDefinitions:
    broken = [quarantined for quarantined in layer.quarantined if quarantined.gvk in (gvk, None)]
    if has_definitions:
        broken = [quarantined for quarantined in broken if not _is_other_object(quarantined)]
    return SourceDefinitions(
        tuple(entry for entry in layer.entries if entry.definition.gvk == gvk),
        tuple(broken),
    )


def _why_undefined(gvk: GVK, defined: Collection[GVK], *, files_are_right: bool) -> str:
    if gvk in defined:
        return "the one that they have cannot be used: see above"
    if defined:
        return f"they define {', '.join(map(str, sorted(defined)))}"
    if not files_are_right:
        return "there is none in them that can be used: correct what is named above, or give others with -f"
    return "there is none in them: give others with -f"


def workload_of(obj: Object, filenames: Sequence[str], references: Iterable[str]) -> "Workload":
    """Return the object with the Karta of its kind. Raises UsageProblem if only scripts answer for the kind."""
    from karta_interpreter.engine.workload import Karta, Workload  # noqa: PLC0415 - few commands need components

    definition = interpreter_for(GVK.of(obj), filenames, ()).entry.definition
    if not definition.has_karta:
        raise UsageProblem(f"error: {definition.name} is not a Karta: scripts do not describe components")
    return Workload(Karta(definition), obj).with_references(read_references(references, definition))


def kinds_of(paths: Sequence[str]) -> set[GVK]:
    """Return the kinds that the given files describe, also with errors, or without files the catalogue's kinds."""
    if not paths:
        return {*catalogue_kinds()}
    kinds = set[GVK]()
    for files in read_existing(paths):
        kinds.update(kinds_in(files))
        kinds.update(broken.gvk for broken in files.layer.quarantined if broken.gvk)
    return kinds


def print_findings(*snapshots: Snapshot) -> bool:
    """Print the findings of snapshots on stderr. Return whether there is no broken definition and no case."""
    findings = list[Finding]()
    for snapshot in snapshots:
        findings += snapshot.findings
    for snapshot in snapshots:
        findings += _findings_of(snapshot.quarantined)
    say(findings_text(findings), err=True, nl=False)
    return all(finding.severity is not Severity.ERROR for finding in findings)


def _is_other_object(broken: Quarantined) -> bool:
    """Return whether it is an object next to its definition, which is not a mistake. A case is one: no suite has it.

    A definition of a misspelt kind, which names the kind that it is for, is a mistake, too.
    """
    return broken.gvk is None and all(
        finding.rule == "not-a-karta" and finding.message != CASE for finding in broken.findings
    )


def _broken(
    customizations: Iterable[LoadedCustomization], answered: frozenset[str] = frozenset()
) -> dict[str, Finding]:
    """Return the first error of each broken script, if no script above it answers its operation."""
    problems = dict[str, Finding]()
    for customization in customizations:
        for name in customization.broken - answered:
            if problem := customization.problem(name):
                problems[name] = problem
    return problems


def _about(gvk: GVK, customizations: Iterable[LoadedCustomization]) -> list[LoadedCustomization]:
    return [customization for customization in customizations if customization.gvk in (gvk, None)]


def scripts_of(customizations: Sequence[LoadedCustomization]) -> Overrides:
    """Return the scripts of customizations, and the findings about them."""
    scripts, conflicts = merge(customizations)
    findings = [finding for finding in _findings_of(customizations) if finding.rule != "global-variable"]
    return Overrides(scripts, (*conflicts, *findings))


def kinds_in(files: DefinitionFiles) -> Iterator[GVK]:
    """Yield the kinds of the definitions and scripts in files."""
    yield from (entry.definition.gvk for entry in files.layer.entries)
    yield from (customization.gvk for customization in files.customizations if customization.gvk)


def definitions_named(kinds: Sequence[str], paths: Sequence[str]) -> list[Definition]:
    """Return the definitions of the given files, or without files of the catalogue. ``kinds`` limits them.

    Raises Problem if a given file has a definition with errors. They are printed on stderr.
    """
    if not paths:
        return [entry.definition for entry in chosen(catalogue_entries(kinds), kinds)]
    files_of_paths = read_existing(paths)
    snapshot = combine(files.layer for files in files_of_paths)
    print_findings(snapshot)
    if snapshot.quarantined or not snapshot.entries:
        reason = ""
        if not snapshot.quarantined and any(files.customizations for files in files_of_paths):
            reason = f", only a {KIND}, which has scripts and no statuses; `create karta` drafts a Karta"
        raise Problem(f"error: {', '.join(paths)}: there is no definition in it that can be used{reason}")
    return [entry.definition for entry in chosen([snapshot.entries[gvk] for gvk in snapshot.kinds()], kinds)]


def catalogue_entries(kinds: Sequence[str]) -> Sequence[ServedDefinition]:
    """Return the catalogue's entries of the named kinds, or all entries if a name may be a definition's."""
    names = {kind.lower() for kind in kinds}
    named = {gvk: names.intersection(gvk.names) for gvk in catalogue_kinds()}
    if not names or names.difference(*named.values()):
        return load_catalogue().entries
    selected = sorted(gvk for gvk in named if named[gvk])
    return [*filter(None, map(find_in_catalogue, selected))]


def chosen(entries: Sequence[ServedDefinition], kinds: Sequence[str]) -> list[ServedDefinition]:
    """Return the entries with a named kind, ``apiVersion/Kind`` or definition, in their order, or all without names."""
    for kind in kinds:
        if not any(is_named(entry, [kind]) for entry in entries):
            hint = kind_hint(kind, {_name_of(entry.definition.gvk) for entry in entries})
            hint = f"give a file with -f: -f {kind}" if exists(kind) else hint
            raise UsageProblem(f"error: there is no definition for {kind}; {hint}")
    return [entry for entry in entries if not kinds or is_named(entry, kinds)]


def is_named(entry: ServedDefinition, names: Sequence[str]) -> bool:
    """Return whether one of the names is that of an entry's kind, also a short one, or of its definition."""
    own_names = (*entry.definition.gvk.names, entry.definition.name.lower())
    return any(_SHORT_NAMES.get(name.lower(), name.lower()) in own_names for name in names)


CASE: Final = OTHER_FILES["operation"][0]
# The kinds that people and kubectl call by a shorter name.
_SHORT_NAMES = {
    "deploy": "deployment",
    "sts": "statefulset",
    "ds": "daemonset",
    "rs": "replicaset",
    "po": "pod",
    "cj": "cronjob",
    "svc": "service",
    "isvc": "inferenceservice",
    "sdep": "seldondeployment",
    "wf": "workflow",
    "pr": "pipelinerun",
    "tr": "taskrun",
    "lws": "leaderworkerset",
    "vm": "virtualmachine",
    "vmi": "virtualmachineinstance",
    "hr": "helmrelease",
    "ks": "kustomization",
    "flinkdep": "flinkdeployment",
    "sparkapp": "sparkapplication",
}


def load_sources(sources: Sources, selection: Selection = EVERYTHING) -> Snapshot:
    """Load the snapshot of the sources. The findings about them are printed on stderr."""
    if sources["filenames"]:
        if sources["kartas"] or sources["overrides"]:
            raise UsageProblem("error: give -f, or --kartas and --overrides, not both")
        check_stdin(sources["filenames"])
        snapshot = snapshot_of(sources["filenames"], selection)
    else:
        snapshot = Store(
            sources["kartas"], overrides=sources["overrides"], catalogue=sources["catalogue"], selection=selection
        ).load()
    print_findings(snapshot)
    return snapshot


def served_definitions(filenames: Sequence[str]) -> Sequence[ServedDefinition]:
    """Return the definitions of the given files, or without files of the catalogue."""
    if not filenames:
        return load_catalogue().entries
    return [*load_sources(Sources(filenames=(*filenames,), kartas=(), overrides=(), catalogue=False)).entries.values()]


def snapshot_of(
    paths: Sequence[str], selection: Selection = EVERYTHING, below: Sequence[SourceDefinitions] = ()
) -> Snapshot:
    """Return the snapshot that the definitions and scripts of files make, before the layers that are ``below`` them."""
    definition_files = read_existing(paths)
    scripts = scripts_of([*chain.from_iterable(files.customizations for files in definition_files)])
    layers = [files.layer for files in definition_files]
    return combine((*layers, *below), scripts, selection)


def with_cluster(
    kubeconfig: Path | None, context: str | None, work: Callable[["ApiServer"], Awaitable[_Result]]
) -> _Result:
    """Return the result of work with a cluster. Raises ClusterError."""
    # Imported only if needed: the extra [console] has no client of Kubernetes.
    from karta_interpreter.definitions.sources.api_server import ApiServer  # noqa: PLC0415

    async def connected() -> _Result:
        async with ApiServer.of(kubeconfig, context) as api:
            return await work(api)

    return asyncio.run(connected())


def check_namespaces(member: MemberOptions) -> None:
    """Raise UsageProblem for one namespace and all of them."""
    if member.namespace and member.all_namespaces:
        raise UsageProblem("error: give --namespace or --all-namespaces, not both")


async def cluster_layer(api: "ApiServer") -> SourceDefinitions:
    """Return the definitions of a cluster's Kartas, of each kind the one that a server takes. Raises ClusterError."""
    from karta_interpreter.definitions.sources import cluster  # noqa: PLC0415 - as above
    from karta_interpreter.definitions.sources.api_server import existing  # noqa: PLC0415

    objects = await existing(api.list(kartas_path())) or ()  # the CRD of Kartas may not exist there
    kartas = (ClusterKarta.first_seen(f"kartas/{name_of(obj)}", obj) for obj in objects)
    return cluster.layer_of_kartas(sorted(kartas, key=lambda karta: karta.age))
