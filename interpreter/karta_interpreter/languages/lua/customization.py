"""Karmada's ResourceInterpreterCustomization objects: read, linted, and merged by kind as Karmada merges them.

Their shape follows ``pkg/apis/config/v1alpha1/resourceinterpretercustomization_types.go``. For merging see
``pkg/resourceinterpreter/customized/declarative/configmanager/{manager,accessor}.go``.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from karta_interpreter.base.errors import InterpretationError, ManifestError
from karta_interpreter.base.findings import Finding, Severity, error, escaped, warning
from karta_interpreter.base.ignores import Ignore, placed_objects, unignored
from karta_interpreter.base.k8s import GVK, JSON, Object, Path, edit, type_name
from karta_interpreter.base.karmada import API_VERSION, SLOTS
from karta_interpreter.base.positions import SourcePosition
from karta_interpreter.languages.lua.reading import read_scripts, unknown_fields
from karta_interpreter.languages.lua.script import COUNTS_AGREE, CUSTOMIZATIONS, Script, Scripts

KIND = "ResourceInterpreterCustomization"

_AGREES = ("metadata", "annotations", COUNTS_AGREE)
_ALL_RUN = "InterpretDependency"
_TARGET = ("spec", "target")
_FIELDS: tuple[tuple[Path, tuple[str, ...]], ...] = (
    ((), ("apiVersion", "kind", "metadata", "spec")),
    (("spec",), ("target", "customizations")),
    (_TARGET, ("apiVersion", "kind")),
)


class LoadedCustomization(Struct, frozen=True):
    """The result of reading one customization. One broken script does not affect the others.

    ``gvk`` is the kind that it is for, or None if it names none. ``scripts`` has those that can be run, and ``broken``
    the operations with one that cannot. ``line`` is where it begins, or 0 for text without a customization, which the
    findings describe.
    """

    name: str
    gvk: GVK | None
    scripts: Scripts
    findings: tuple[Finding, ...]
    source: str
    broken: frozenset[str] = frozenset()
    line: int = 0

    def problem(self, operation: str) -> Finding | None:
        """Return the first error in the script of an operation, or None if it has none."""
        prefix = (*CUSTOMIZATIONS, SLOTS[operation].field)
        errors = (finding for finding in self.findings if finding.severity is Severity.ERROR)
        return next((finding for finding in errors if finding.path[: len(prefix)] == prefix), None)


def is_customization(value: JSON) -> bool:
    """Return whether an object is a customization rather than a Karta, or something else.

    >>> is_customization({"apiVersion": "config.karmada.io/v1alpha1", "kind": "ResourceInterpreterCustomization"})
    True
    """
    # The kind decides. A wrong apiVersion is a finding about a customization, not a reason to read it as a Karta.
    return isinstance(value, dict) and value.get("kind") == KIND


def load_customizations(text: str, source: str) -> list[LoadedCustomization]:
    """Return every customization of a manifest. ``source`` names the text in findings.

    Reads YAML and JSON, several documents and `List` objects. Text that cannot be read at all makes one result with a
    finding. So does a document that is something else. Nothing is raised.
    """
    try:
        objects = placed_objects(text, source, KIND)
    except ManifestError as err:
        finding = error("unreadable", (), str(err), source=source, line=err.line, column=err.column)
        return [LoadedCustomization("", None, Scripts(), (finding,), source)]
    return [_load(*obj) for obj in objects]


def merge(customizations: Iterable[LoadedCustomization]) -> tuple[Mapping[GVK, Scripts], list[Finding]]:
    """Return the scripts of each kind, and the conflicts between customizations.

    For each operation the first script in the order of the customizations' names wins. Only for InterpretDependency
    all scripts run. For any other operation Karmada's webhook refuses a second script, so it is an error here.
    """
    by_kind: dict[GVK, list[Script]] = {}
    in_order = sorted(customizations, key=lambda loaded: loaded.name)
    conflicts = list[Finding]()
    for gvk, script in ((loaded.gvk, script) for loaded in in_order if loaded.gvk for script in loaded.scripts):
        scripts_of_kind = by_kind.setdefault(gvk, [])
        winner = next((other for other in scripts_of_kind if other.operation == script.operation), None)
        if winner is None or script.operation == _ALL_RUN:
            scripts_of_kind.append(script)
        else:
            conflict = error(
                "conflicting-scripts",
                (*CUSTOMIZATIONS, SLOTS[script.operation].field, "luaScript"),
                f"{gvk}: {script.operation} has a second script; the one of {winner.name} in {winner.source} answers",
                "Karmada refuses a second script for an operation; remove one of them",
                source=script.source,
                line=script.line,
                column=1 if script.line else 0,
            )
            conflicts.append(conflict)
    return {gvk: Scripts(scripts) for gvk, scripts in by_kind.items()}, conflicts


def _load(value: JSON, position: SourcePosition, ignores: Sequence[Ignore]) -> LoadedCustomization:
    if not is_customization(value):
        finding = position.locate(error("not-a-customization", (), f"not a {KIND}, got {_what(value)}"))
        return LoadedCustomization(_name(value), None, Scripts(), (finding,), position.source)
    name, (gvk, about_target) = _name(value), target_of(value)
    customizations = edit.get(value, CUSTOMIZATIONS)
    reading = read_scripts(
        {} if customizations is None else customizations,
        name or position.source,
        CUSTOMIZATIONS,
        position,
        agrees=counts_agree(value) is True,
    )
    shape = [*_shape_findings(value), *about_target]
    # A field that does not exist may have the scripts that are missing where they belong.
    hides_scripts = any(finding.rule == "unknown-field" for finding in shape)
    about_scripts = [finding for finding in reading.findings if not (hides_scripts and finding.rule == "no-scripts")]
    if {"InterpretComponent", "ReviseReplica"} <= reading.scripts.operations:
        shape.append(
            warning(
                "components-and-revision",
                (*CUSTOMIZATIONS, "replicaRevision"),
                "next to componentResource it scales workloads to zero: with the feature gate "
                "MultiplePodTemplatesScheduling Karmada assigns no replicas, and then asks for a revision to 0",
                "keep one of the two",
            )
        )
    findings = tuple(unignored([*map(position.locate, shape), *about_scripts], ignores, position.source))
    scripts = reading.scripts if gvk else Scripts()
    return LoadedCustomization(name, gvk, scripts, findings, position.source, reading.broken, position.line)


def counts_agree(value: Object) -> bool | None:
    """Return what the annotation of an object says, None if it says nothing."""
    said = edit.get(value, _AGREES)
    return said == "true" if said in ("true", "false") else None


def _what(value: JSON) -> str:
    if not isinstance(value, dict):
        return type_name(value)
    api_version, kind = value.get("apiVersion"), value.get("kind")
    return f"{api_version}, Kind={kind}" if api_version and kind else "an object without apiVersion and kind"


def _name(value: JSON) -> str:
    name = edit.get(value, ("metadata", "name"))
    return escaped(name) if isinstance(name, str) else ""


def _shape_findings(value: Object) -> Iterator[Finding]:
    if value.get("apiVersion") != API_VERSION:
        message = f"there is no {KIND} in {value.get('apiVersion') or 'no group'}"
        yield error("schema", ("apiVersion",), message, f"write apiVersion: {API_VERSION}")
    said = edit.get(value, _AGREES)
    if said is not None and counts_agree(value) is None:
        yield error("schema", _AGREES, f'must be "true" or "false", not {said!r}', "write it in quotes")
    for path, fields in _FIELDS:
        section = edit.get(value, path)
        if isinstance(section, dict):
            yield from unknown_fields(section, fields, path)


def target_of(value: Object) -> tuple[GVK | None, list[Finding]]:
    """Return the kind that a customization is for, or None, with the findings about it."""
    target = edit.get(value, _TARGET)
    if not isinstance(target, dict):
        message = "it names no kind" if target is None else f"it must be an object, not {type_name(target)}"
        return None, [error("no-target", _TARGET, message, "add the kind's apiVersion and kind")]
    wrong = list[Finding]()
    for name in ("apiVersion", "kind"):
        if not (isinstance(target.get(name), str) and target[name]):
            actual = type_name(target[name]) if target.get(name) else "missing or empty"
            wrong.append(error("no-target", (*_TARGET, name), f"{name} must be a string, but is {actual}"))
    if wrong:
        return None, wrong
    if "." in target["apiVersion"] and "/" not in target["apiVersion"]:
        hint = f"write {target['apiVersion']}/VERSION, as the kind's objects do"
        return None, [error("no-target", (*_TARGET, "apiVersion"), "it is a group without a version", hint)]
    try:
        return GVK.of(target), []
    except InterpretationError as err:
        return None, [error("no-target", (*_TARGET, "apiVersion"), str(err))]
