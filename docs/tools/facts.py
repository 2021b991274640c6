"""What is known of each kind besides its definition: kartas/GROUP/VERSION/KIND/facts.yaml.

docs/developers/facts.md explains the fields. Tests and the programs that write pages read them, the package does not.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, ValidationError

from karta_interpreter.base.errors import ManifestError
from karta_interpreter.base.k8s import GVK, JSON, Object
from karta_interpreter.base.k8s.manifest import read_documents
from karta_interpreter.definitions.karta import catalogue_files, catalogue_kinds

NAME: Final = "facts.yaml"
Health: TypeAlias = Literal["healthy", "unhealthy", "unknown"]
Beside: TypeAlias = Literal["full", "short", "none"]
"""Which counters of an object stand beside a word."""
Answers: TypeAlias = tuple[Health, Health, Health]
"""Answers of InterpretHealth: beside full, short and no counters."""
Moment: TypeAlias = Literal["edited", "pending", "half", "overdue", "again"]
"""A moment of a roll-out that each kind has."""
WANTED: Final = 3
"""The number of pods that an object with a roll-out asks for."""


class _Fields(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=lambda name: name.replace("_", "-"))


class Source(_Fields):
    """Where the words of a kind come from."""

    project: str
    version: str
    files: Mapping[str, str] = {}


class Words(_Fields):
    """The words that an operator writes into a status, each with three answers."""

    source: Source
    object: Object
    beside: Mapping[Beside, Object | None]
    phase: str = ""
    phases: Mapping[str, Answers] = {}
    conditions: Mapping[str, Answers] | None = None
    conditions_at: str = ".status.conditions"
    made_up: Mapping[Literal["phase", "condition"], Answers]
    left_out: Mapping[str, str] = {}


class Writer(_Fields):
    """Somebody who writes into an object in a member."""

    writer: str
    source: str
    sets: Object = {}
    owns: Object = {}
    function: str = ""
    templates: Sequence[Object] | None = None
    once: bool = False
    immutable: bool = False
    updates: bool = False
    conflicts: Sequence[str] = ()
    fights: str = ""


class Writers(_Fields):
    """All who write into the spec, the labels and the annotations of an object, or the source for nobody."""

    nobody: str = ""
    templates: Sequence[Object] = ()
    writers: Sequence[Writer] = ()


class Wait(_Fields):
    """A state in which a roll-out waits on purpose, as a change of one in which it goes on with the same counters."""

    state: str
    updated: int
    total: int = WANTED
    unready: int = 0
    patch: Object
    healthy: bool = True
    reason: str


class RollOut(_Fields):
    """How the status of a kind shows an update of its pods."""

    name: str = ""
    source: str
    object: Object
    status: str
    surge: bool = False
    is_of_the_cluster: bool = False
    healthy: Sequence[Moment] = ()
    unshown: str = ""
    waits: Sequence[Wait] = ()
    lacks: Mapping[Literal["overdue", "waits"], str] = {}


class ImmutableField(_Fields):
    """A field that a member refuses to change, with two values of it: the member's and the template's."""

    field: str
    by: Literal["server", "crd", "webhook"]
    condition: str = "always"
    source: str
    kept: str = ""
    base: Object = {}
    values: tuple[JSON, JSON]

    @property
    def is_kept(self) -> bool:
        """Whether Retain keeps the member's value, and not only what the template leaves unset."""
        return self.by != "webhook" or bool(self.kept)


class Immutable(_Fields):
    """All fields that a member refuses to change, or the source for none."""

    none: str = ""
    fields: Sequence[ImmutableField] = ()


class WithoutEffect(_Fields):
    """An annotation that an operation reads, and that no object of the kind can show."""

    annotation: str
    operation: str
    reason: str
    version: str | None = None


class Unwritten(_Fields):
    """Fields in which a count that is today's by a default is not written, so that a member keeps its own."""

    fields: Sequence[str]
    reason: str


class Aggregate(_Fields):
    """Where an aggregated status may differ from the worst cluster: reasons by the status of the worst cluster."""

    other: Mapping[str, str] = {}
    better: Mapping[str, str] = {}
    healthier: Mapping[str, str] = {}


class Differences(_Fields):
    """Where the kind may differ from a law of the catalogue, each with its reason."""

    aggregate: Aggregate = Aggregate()
    serving_counts: Mapping[Literal["ready", "updated"], str] = {}
    unwritten: Unwritten | None = None
    without_effect: Sequence[WithoutEffect] = ()
    unlike_schema: Mapping[str, str] = {}


class Project(_Fields):
    """A project of this kind alone, or more of one in docs/upstreams.yaml, which explains the fields."""

    repository: str = ""
    folder: str = ""
    releases: dict[str, str] = {}
    crds: list[str] = []
    module: str = ""
    modules: dict[str, str] = {}
    conformance: str = ""
    without: str | dict[str, str] = ""


class BundledScript(_Fields):
    """Why the Karta answers otherwise than the script that Karmada bundles. Only the fields, if any, may differ."""

    reason: str
    fields: Sequence[str] = ()


class VersionFacts(_Fields):
    """The facts that may be others in another version of the kind."""

    statuses: Mapping[str, str | Sequence[str]] | None = None
    words: Words | None = None
    writers: Writers | None = None
    immutable: Immutable | None = None
    bundled_scripts: Mapping[str, str | BundledScript] = {}
    without_schema: str = ""


class Facts(VersionFacts):
    """The facts of a kind."""

    upstreams: Mapping[str, Project] = {}
    differences: Differences = Differences()
    roll_outs: Sequence[RollOut] = ()
    unnamed: Mapping[str, str] = {}
    versions: Mapping[str, VersionFacts] = {}
    components: Mapping[str, Mapping[str, str]] = {}


class FactsError(ValueError):
    """A file with facts that has other fields or values. The message names the place."""


@cache
def all_facts() -> Mapping[Path, Facts]:
    """Return the facts by the folder of each definition. Raises FactsError."""
    return {path.parent: read_facts(path.with_name(NAME)) for path in catalogue_files()}


@cache
def read_facts(path: Path) -> Facts:
    """Return the facts of a file, none if there is no such file. Raises FactsError."""
    if not path.exists():
        return Facts()
    source = "/".join(path.parts[-5:])
    try:
        (document,) = read_documents(path.read_text(encoding="utf-8"), source)
        return Facts.model_validate(document.value)
    except ManifestError as error:
        raise FactsError(f"{source}:{error.line}: {error}") from error
    except ValidationError as error:
        fault = error.errors()[0]
        line, _ = document.position(fault["loc"])
        raise FactsError(f"{source}:{line}: {'.'.join(map(str, fault['loc']))}: {fault['msg']}") from error


@cache
def facts_of(gvk: GVK) -> Facts:
    """Return the facts of a kind of the catalogue in one of its versions."""
    facts = read_facts(catalogue_kinds()[gvk].with_name(NAME))
    version = facts.versions.get(gvk.version)
    return (
        facts.model_copy(update={name: getattr(version, name) for name in version.model_fields_set})
        if version
        else facts
    )


def bundled_scripts() -> Iterator[tuple[str, str, BundledScript]]:
    """Yield the kind, the operation and the reason of each difference from a script that Karmada bundles."""
    for folder, facts in all_facts().items():
        group, version, kind = folder.parts[-3:]
        for name, each in {version: facts, **facts.versions}.items():
            for operation, known in each.bundled_scripts.items():
                reason = BundledScript(reason=known) if isinstance(known, str) else known
                yield f"{group}/{name} {kind}", operation, reason
