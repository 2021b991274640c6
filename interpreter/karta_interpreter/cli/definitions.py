"""The definition and the scripts that answer for a kind, from the given files or from the catalogue."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypedDict, TypeVar

import click

from karta_interpreter.base.findings import Finding, Severity, closest, did_you_mean, escaped
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
from karta_interpreter.cli.options import PATH, Command, definitions
from karta_interpreter.cli.program import Problem, UsageProblem
from karta_interpreter.cli.render import findings_text, say
from karta_interpreter.definitions.karta import (
    KARTA,
    RESOURCE_INTERFACE,
    Definition,
    catalogue_kinds,
    kartas_path,
    name_of,
)
from karta_interpreter.definitions.karta.schema import OTHER_FILES, other_file
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
from karta_interpreter.engine.suites import find_suites
from karta_interpreter.engine.workload import Karta, Workload
from karta_interpreter.languages.lua.customization import KIND, LoadedCustomization, load_customizations, merge

if TYPE_CHECKING:
    from karta_interpreter.definitions.sources.api_server import ApiServer

_Result = TypeVar("_Result")
DEFINITIONS = (KARTA[1], RESOURCE_INTERFACE[1], KIND)
"""The kinds of definitions and customizations, which are not workloads."""


class NoDefinition(Problem):
    """A kind has no definition."""


@dataclass(frozen=True, slots=True)
class DefinitionFiles:
    """The Kartas and customizations of a path, and the files that they were read from."""

    layer: SourceDefinitions
    customizations: tuple[LoadedCustomization, ...] = ()
    files: tuple[DefinitionFile, ...] = ()
    path: str = ""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The definition of a kind. ``broken`` has the first error of each script that cannot answer its operation.

    ``files_are_right`` if no definition among the files that it was read from has an error, and none of them is a case.
    """

    entry: ServedDefinition
    broken: Mapping[str, Finding]
    files_are_right: bool = True

    def is_asked(self, operation: str) -> bool:
        """Return whether a definition or a script should answer an operation."""
        return operation in self.broken or self.entry.definition.answers(operation)

    @property
    def why_not(self) -> str:
        """The reason why an operation has no answer, in karmadactl's words if only scripts are given."""
        if not self.entry.definition.has_karta:
            return "rule is not enabled"
        kind = self.entry.definition.gvk.kind
        advice = f"; `catalogue export {kind}` prints it with the reason" if self.entry.origin == "catalogue" else ""
        return f"the definition's annotation karta-interpreter.io/operations leaves it out{advice}"


def read_definition_files(path: str) -> DefinitionFiles:
    """Return the Kartas and the customizations in a file, a folder or standard input."""
    check_path(path)
    folder = Folder(Path(path), DefinitionFile)
    content = read_stream(path)
    if content is None:
        folder = folder.read()
    else:
        # A path cannot have the two slashes of a scheme.
        name = "stdin" if path == STDIN else path.rpartition("://")[2]
        file = DefinitionFile(Path(name)).holding(content)
        folder = replace(folder, files={file.path: file})
    layer = layer_of(folder)
    customizations = tuple(customization for file in folder.files.values() for customization in _customizations(file))
    places = {("not-a-karta", customization.source, customization.line) for customization in customizations}
    broken = tuple(
        quarantined  # a document that is not a Karta may be a customization
        for quarantined in layer.quarantined
        if places.isdisjoint((finding.rule, finding.source, finding.line) for finding in quarantined.findings)
    )
    return DefinitionFiles(replace(layer, quarantined=broken), customizations, tuple(folder.files.values()), path)


def read_existing(paths: Sequence[str]) -> list[DefinitionFiles]:
    """Return the definitions of paths. A path that does not exist is wrong usage, as for all other files."""
    files = [read_definition_files(path) for path in paths]
    for path in paths:
        if not (path == STDIN or exists(path)):
            raise missing(path)
    return files


def holds_objects(path: str) -> bool:
    """Return whether a path exists and has objects in it, but no definition."""
    broken = read_definition_files(path).layer.quarantined
    return {finding.rule for quarantined in broken for finding in quarantined.findings} == {"not-a-karta"}


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
    texts = (text for path in overrides for text in read_texts(path))
    # Other objects are among them with a finding.
    stronger = [customization for source, text in texts for customization in load_customizations(text, source)]
    if unused := [
        finding for customization in stronger if not customization.line for finding in customization.findings
    ]:
        say(findings_text(unused), err=True, nl=False)
        raise SystemExit(Problem.exit_code)
    if overrides and not stronger:
        raise Problem(f"error: {', '.join(overrides)}: there is no {KIND} in it")
    if overrides and not _about(gvk, stronger):
        say(escaped(f"warning: the overrides have no script for {gvk}, only for {stronger[0].gvk}"), err=True)
    if paths:
        return interpreter_of(gvk, read_existing(paths), stronger)
    entry = find_in_catalogue(gvk)
    files = DefinitionFiles(SourceDefinitions((entry,) if entry else ()))
    try:
        return interpreter_of(gvk, [files], stronger)
    except NoDefinition:
        raise NoDefinition(f"error: the catalogue has no definition for {gvk}; {_advice(gvk)}") from None


def among_cases(paths: Iterable[str], gvk: GVK | None = None) -> str:
    """Return how to move a definition, or that of a kind, out of a suite in folders, "" without one."""
    suites = (str(suite) for path in paths if Path(path).is_dir() for suite in find_suites(Path(path)))
    found = (suite for suite in suites if any(gvk in (None, kind) for kind in kinds_of([suite])))
    return next((f"move {suite} beside the folder testdata, which has only cases" for suite in found), "")


def no_workload(obj: Object) -> str:
    """Return what to give instead of an object that is no workload, by its fields or its type. "" for any other."""
    kind, (what, is_object, _) = str(obj.get("kind")), other_file(obj).partition(", not a ")
    return (
        f"give the {kind} with -f, and an object of the kind that it is for as FILE"
        if kind in DEFINITIONS
        else "it is an object of Karmada itself: give the workload"
        if str(obj.get("apiVersion")).partition("/")[0].endswith("karmada.io")
        else "give one of its items, with its apiVersion and kind"
        if kind.endswith("List")
        else f"{what}: give an object of the kind that is meant, as `kubectl get KIND NAME -o yaml` prints it"
        if is_object
        else what
    )


def _advice(gvk: GVK) -> str:
    if gvk.kind not in CORE_KINDS and (other := no_workload(gvk.type_meta)):
        return other
    versions = {other.api_version for other in catalogue_kinds() if other.kind == gvk.kind}
    near = (
        closest(gvk.api_version, versions)
        or " or ".join(
            sorted(
                name
                for name in versions
                # An API group that moved to another domain keeps the first part of its name.
                if "." not in gvk.group or name.split(".")[0] == gvk.group.split(".")[0]
            )
        )
        if versions
        else closest(gvk.kind, {other.kind for other in catalogue_kinds() if other.group == gvk.group})
    )
    return (
        f"kinds without pods need none{f', except for {near}' if near else ''}"
        if gvk.api_version == "v1" and gvk.kind in CORE_KINDS
        else f"give one with -f, or did you mean {near}?"
        if near
        else "give one with -f"
    )


def interpreter_of(
    gvk: GVK, given: Sequence[DefinitionFiles], overrides: Iterable[LoadedCustomization] = ()
) -> Interpreter:
    """Return the definition of a kind in files that were read, and its scripts. Raises NoDefinition."""
    weaker = _about(gvk, (customization for files in given for customization in files.customizations))
    stronger = _about(gvk, overrides)
    is_defined = any(gvk in _kinds(files) for files in given)
    has_definitions = any(
        [*_kinds(files)] or not all(map(_is_other_object, files.layer.quarantined)) for files in given
    )
    # In two steps, for two precedences: scripts of the given files over their Kartas, scripts of `overrides` over both.
    layers = (
        SourceDefinitions(
            tuple(entry for entry in files.layer.entries if entry.definition.gvk == gvk),
            tuple(
                broken
                for broken in files.layer.quarantined
                if broken.gvk in (gvk, None) and not (has_definitions and _is_other_object(broken))
            ),
        )
        for files in given
    )
    below = combine(layers, scripts_of(weaker))
    combined = combine([SourceDefinitions(tuple(below.entries.values()))], scripts_of(stronger))
    files_are_right = print_findings(below, combined)
    if gvk not in combined.entries:
        defined = ", ".join(map(str, sorted({gvk for files in given for gvk in _kinds(files)})))
        what = (
            "the one that they have cannot be used: see above"
            if is_defined
            else f"they define {defined}"
            if defined
            else "there is none in them that can be used: correct what is named above, or give others with -f"
            if not files_are_right
            else "there is none in them; write that of the catalogue into the folder: "
            f"`karta-interpreter catalogue export {gvk.api_version}/{gvk.kind} > FOLDER/karta.yaml`"
            if gvk in catalogue_kinds()
            else "there is none in them: give others with -f"
        )
        raise NoDefinition(
            f"error: the given files have no definition for {gvk}; "
            f"{among_cases((files.path for files in given), gvk) or no_workload(gvk.type_meta) or what}"
        )
    answered = frozenset(operation for customization in stronger for operation in customization.scripts.operations)
    return Interpreter(combined.entries[gvk], _broken(weaker, answered) | _broken(stronger), files_are_right)


def workload_of(obj: Object, filenames: Sequence[str], references: Iterable[str]) -> Workload:
    """Return the object with the Karta of its kind. Raises UsageProblem if only scripts answer for the kind."""
    definition = interpreter_for(GVK.of(obj), filenames, ()).entry.definition
    if not definition.has_karta:
        raise UsageProblem(f"error: {definition.name} is not a Karta: scripts do not describe components")
    return Workload(Karta(definition), obj).with_references(read_references(references, definition))


def kinds_of(paths: Sequence[str]) -> set[GVK]:
    """Return the kinds that the given files describe, also with errors, or without files the catalogue's kinds."""
    definition_files = read_existing(paths)
    broken = {
        quarantined.gvk for files in definition_files for quarantined in files.layer.quarantined if quarantined.gvk
    }
    return broken.union(*map(_kinds, definition_files)) if paths else {*catalogue_kinds()}


def print_findings(*snapshots: Snapshot) -> bool:
    """Print the findings of snapshots on stderr. Return whether there is no broken definition and no case."""
    findings = [
        *(finding for snapshot in snapshots for finding in snapshot.findings),
        *(finding for snapshot in snapshots for broken in snapshot.quarantined for finding in broken.findings),
    ]
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
    return {
        name: problem
        for customization in customizations
        for name in customization.broken - answered
        if (problem := customization.problem(name))
    }


def _about(gvk: GVK, customizations: Iterable[LoadedCustomization]) -> list[LoadedCustomization]:
    return [customization for customization in customizations if customization.gvk in (gvk, None)]


def scripts_of(customizations: Sequence[LoadedCustomization]) -> Overrides:
    """Return the scripts of customizations, and the findings about them."""
    scripts, conflicts = merge(customizations)
    findings = [
        finding
        for customization in customizations
        for finding in customization.findings
        if finding.rule != "global-variable"
    ]
    return Overrides(scripts, (*conflicts, *findings))


def _kinds(files: DefinitionFiles) -> Iterator[GVK]:
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
        is_scripts = not snapshot.quarantined and any(files.customizations for files in files_of_paths)
        reason = (
            f", only a {KIND}, which has scripts and no statuses; `create karta` drafts a Karta" if is_scripts else ""
        )
        raise Problem(f"error: {', '.join(paths)}: there is no definition in it that can be used{reason}")
    return [entry.definition for entry in chosen([snapshot.entries[gvk] for gvk in snapshot.kinds()], kinds)]


def catalogue_entries(kinds: Sequence[str]) -> Sequence[ServedDefinition]:
    """Return the catalogue's entries of the named kinds, or all entries if a name may be a definition's."""
    names = {kind.lower() for kind in kinds}
    named = {gvk: names.intersection(gvk.names) for gvk in catalogue_kinds()}
    if not names or names.difference(*named.values()):
        return load_catalogue().entries
    return [*filter(None, map(find_in_catalogue, sorted(gvk for gvk in named if named[gvk])))]


def chosen(entries: Sequence[ServedDefinition], kinds: Sequence[str]) -> list[ServedDefinition]:
    """Return the entries with a named kind, ``apiVersion/Kind`` or definition, in their order, or all without names."""
    for kind in kinds:
        if not any(_is_named(entry, [kind]) for entry in entries):
            # With another version or group, or in another order: the kind tells more than the rest.
            words = {*kind.lower().split("/"), *kind.lower().partition(".")[::2]} - {""}
            gvks = [entry.definition.gvk for entry in entries]
            alike = (
                [gvk for gvk in gvks if gvk.kind.lower() in words]
                or [gvk for gvk in gvks if gvk.group in words]
                # A project is called by a part of its group, as Knative by serving.knative.dev.
                or [gvk for gvk in gvks if kind.isalpha() and f".{kind.lower()}" in f".{gvk.group.rpartition('.')[0]}"]
            )
            suggestion = (
                f"did you mean {' or '.join(f'{gvk.api_version}/{gvk.kind}' for gvk in alike)}?"
                if alike
                else did_you_mean(kind, sorted({gvk.kind for gvk in gvks}))
            )
            suggestion = (
                "write a space between the names"
                if "," in kind
                else "a name has no *, and `catalogue list` has all names"
                if "*" in kind
                else suggestion
            )
            hint = f"give a file with -f: -f {kind}" if exists(kind) else suggestion
            raise UsageProblem(f"error: there is no definition for {kind}; {hint}")
    return [entry for entry in entries if not kinds or _is_named(entry, kinds)]


def _is_named(entry: ServedDefinition, names: Sequence[str]) -> bool:
    own_names = (*entry.definition.gvk.names, entry.definition.name.lower())
    return any(_SHORT_NAMES.get(name.lower(), name.lower()) in own_names for name in names)


CASE: Final = f"this is {OTHER_FILES['operation']}".partition(": ")[0]
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


class Sources(TypedDict):
    """The values of the options that `sources` adds."""

    filenames: tuple[str, ...]
    kartas: tuple[Path, ...]
    overrides: tuple[Path, ...]
    catalogue: bool


def sources(function: Command) -> Command:
    """Add the options for the sources of definitions: ``-f``, and those that `serve` has."""
    function = click.option(
        "--catalogue/--no-catalogue", default=True, help="Whether to use the definitions of this package, too."
    )(function)
    function = click.option(
        "--overrides",
        type=PATH,
        multiple=True,
        help="Folder or file of ResourceInterpreterCustomizations that answer before the Kartas; may be repeated.",
    )(function)
    return definitions(
        click.option(
            "--kartas",
            type=PATH,
            multiple=True,
            help="Folder or file of definitions, highest precedence first; may be repeated.",
        )(function)
    )


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


def snapshot_of(
    paths: Sequence[str], selection: Selection = EVERYTHING, below: Sequence[SourceDefinitions] = ()
) -> Snapshot:
    """Return the snapshot that the definitions and scripts of files make, before the layers that are ``below`` them."""
    definition_files = read_existing(paths)
    scripts = scripts_of([customization for files in definition_files for customization in files.customizations])
    return combine((*(files.layer for files in definition_files), *below), scripts, selection)


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


async def cluster_layer(api: "ApiServer") -> SourceDefinitions:
    """Return the definitions of a cluster's Kartas, of each kind the one that a server takes. Raises ClusterError."""
    from karta_interpreter.definitions.sources import cluster  # noqa: PLC0415 - as above
    from karta_interpreter.definitions.sources.api_server import existing  # noqa: PLC0415

    path = kartas_path()
    objects = await existing(api.list(path)) or ()  # the CRD of Kartas may not exist there
    kartas = (ClusterKarta.first_seen(f"kartas/{name_of(obj)}", path, obj) for obj in objects)
    return cluster.layer_of_kartas(sorted(kartas, key=lambda karta: karta.age))
