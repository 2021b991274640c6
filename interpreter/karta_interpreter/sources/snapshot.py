"""The definitions in use at one moment."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Self

from karta_interpreter.findings import Finding
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.karta.definition import Definition
from karta_interpreter.lua.script import Scripts


@dataclass(frozen=True, slots=True)
class Entry:
    """A definition that is served; ``origin`` is the file it came from, ``catalogue`` or ``cluster``."""

    definition: Definition
    origin: str


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A definition, a customization or a whole file that cannot be used, with its findings.

    ``gvk`` and ``name`` are as far as they could be read. ``serving_last_good``: this source's last good
    version keeps serving. ``in_part``: some scripts of a customization can be used.
    """

    source: str
    findings: tuple[Finding, ...]
    name: str = ""
    gvk: GVK | None = None
    serving_last_good: bool = False
    in_part: bool = False


@dataclass(frozen=True, slots=True)
class Layer:
    """What one source offers: its definitions, highest precedence first, and what cannot be used."""

    entries: tuple[Entry, ...] = ()
    quarantined: tuple[Quarantined, ...] = ()


@dataclass(frozen=True, slots=True)
class Overrides:
    """Scripts that take precedence over definitions, by kind; ``findings`` are conflicts between customizations."""

    scripts: Mapping[GVK, Scripts] = field(default_factory=lambda: MappingProxyType({}))
    findings: tuple[Finding, ...] = ()
    quarantined: tuple[Quarantined, ...] = ()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All definitions in use, one per kind, and the findings about their combination.

    A definition has the scripts that override it. ``findings`` are the conflicts between sources. ``generation``
    counts the snapshots that were published; two snapshots that differ only in it are equal.

    >>> Snapshot().find(GVK("apps", "v1", "Deployment")) is None
    True
    """

    entries: Mapping[GVK, Entry] = field(default_factory=dict)
    quarantined: tuple[Quarantined, ...] = ()
    findings: tuple[Finding, ...] = ()
    generation: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "entries", MappingProxyType(dict(self.entries)))

    def find(self, gvk: GVK) -> Definition | None:
        """The definition of a kind, None when there is none."""
        entry = self.entries.get(gvk)
        return entry.definition if entry else None

    def kinds(self) -> list[GVK]:
        """The kinds that have a definition, sorted."""
        return sorted(self.entries)

    def numbered(self, generation: int) -> Self:
        """The same snapshot as the given generation."""
        return replace(self, generation=generation)
