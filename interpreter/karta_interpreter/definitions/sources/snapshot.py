"""The definitions in use at one moment: the served kinds, and the source that answers if several have a kind."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

import msgspec
from msgspec import Struct

from karta_interpreter.base.findings import SEVERAL_NAMES, Finding, did_you_mean, error, warning
from karta_interpreter.base.k8s import GVK
from karta_interpreter.base.karmada import OTHER_HALF, SLOTS, Operation
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.languages.lua.script import COUNTED_APART, CUSTOMIZATIONS, Scripts


@dataclass(frozen=True, slots=True)
class ServedDefinition:
    """A served definition. ``origin`` is its file, ``catalogue`` or ``cluster``.

    ``line`` is the first line of the definition in its file, 0 if unknown.
    """

    definition: Definition
    origin: str
    # A definition that has only moved in its file makes no new snapshot.
    line: int = field(default=0, compare=False)


class Quarantined(Struct, frozen=True):
    """A definition, a customization or a whole file that cannot be used, with its findings."""

    source: str
    findings: tuple[Finding, ...]
    name: str = ""
    """The name if it could be read, like ``gvk``."""
    gvk: GVK | None = None
    serving_last_good: bool = False
    """Whether this source's last good version keeps serving."""


class SourceDefinitions(Struct, frozen=True):
    """The definitions of one source, highest precedence first, and its unusable entries."""

    entries: tuple[ServedDefinition, ...] = ()
    quarantined: tuple[Quarantined, ...] = ()


class Overrides(Struct, frozen=True):
    """The scripts of customizations by kind, which take precedence over definitions, and the conflicts between them."""

    scripts: Mapping[GVK, Scripts] = msgspec.field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    quarantined: tuple[Quarantined, ...] = ()


_NO_OVERRIDES: Final = Overrides()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All definitions in use, one per kind, and the findings about their combination.

    A definition has the scripts that override it. ``findings`` are the conflicts between sources. ``generation``
    counts the published snapshots. Two snapshots that differ only in it are equal. ``scripted`` are the entries with
    scripts: the event loop looks for them, and they are few among many.

    >>> Snapshot().find(GVK("apps", "v1", "Deployment")) is None
    True
    """

    entries: Mapping[GVK, ServedDefinition] = field(default_factory=dict)
    quarantined: tuple[Quarantined, ...] = ()
    findings: tuple[Finding, ...] = ()
    generation: int = field(default=0, compare=False)
    scripted: Mapping[GVK, ServedDefinition] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        # Immutable copies. The dataclass is frozen, also for its own methods.
        object.__setattr__(self, "entries", MappingProxyType(dict(self.entries)))
        scripted = {gvk: entry for gvk, entry in self.entries.items() if entry.definition.scripts}
        object.__setattr__(self, "scripted", MappingProxyType(scripted))

    def find(self, gvk: GVK) -> Definition | None:
        """Return the definition of a kind, None if it has none."""
        entry = self.entries.get(gvk)
        return entry.definition if entry else None

    def kinds(self) -> list[GVK]:
        """Return the kinds that have a definition, sorted."""
        return sorted(self.entries)


_ALL = "*"


class Selection(Struct, frozen=True):
    """The kinds in ``kinds``, or all if it is empty, except the kinds in ``without``. ``count_pods`` is only checked.

    A name is a kind in any case, ``apiVersion/Kind``, or ``apiVersion/*`` for all kinds of an API version.

    >>> Selection(without=("apps/v1/*", "Job")).takes(GVK("batch", "v1", "Job"))
    False
    """

    kinds: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    count_pods: tuple[str, ...] = ()

    def takes(self, gvk: GVK | None) -> bool:
        """Return whether a kind is served. An unreadable kind may be any."""
        if gvk is None:
            return True
        return (not self.kinds or _is_among(gvk, self.kinds)) and not (self.without and _is_among(gvk, self.without))

    def findings(self, gvks: Collection[GVK]) -> Iterator[Finding]:
        """Yield a warning for each name that matches no kind of the sources."""
        named = {"--kinds": self.kinds, "--without": self.without, "--count-pods": self.count_pods}
        for flag, kinds in named.items():
            for kind in kinds:
                if any(_is_among(gvk, (kind,)) for gvk in gvks):
                    continue
                hint = kind_hint(kind, {name for gvk in gvks for name in _names(gvk)[1:]})
                if not {*",;:| "}.isdisjoint(kind):
                    hint = SEVERAL_NAMES.format(flag)
                yield warning("unknown-kind", (), f"{flag} {kind}: there is no definition for it", hint)


EVERYTHING = Selection()


def _is_among(gvk: GVK, names: Iterable[str]) -> bool:
    return not {name.lower() for name in names}.isdisjoint(name.lower() for name in _names(gvk))


def _names(gvk: GVK) -> tuple[str, str, str]:
    return gvk.kind, f"{gvk.api_version}/{gvk.kind}", f"{gvk.api_version}/{_ALL}"


def kind_hint(name: str, names: Iterable[str], otherwise: str | None = None) -> str:
    """Return a hint for a kind without a definition: the names of the same kind or group, or the closest name.

    ``names`` are ``apiVersion/Kind`` or ``apiVersion/*``. Without a name like it the hint is ``otherwise``.

    >>> kind_hint("batch/v2/Job", ["batch/v1/Job"]), kind_hint("Jobb", ["batch/v1/Job"])
    ('did you mean batch/v1/Job?', 'did you mean Job?')
    """
    names, lower = sorted(names), name.lower()
    same_kind = [known for known in names if known.lower().endswith(f"/{lower.rpartition('/')[2]}")]
    if related := same_kind or [known for known in names if lower in known.lower()]:
        return did_you_mean(name, related)
    kinds = [known.rpartition("/")[2] for known in names if not known.endswith(_ALL)]
    return did_you_mean(name, dict.fromkeys((*kinds, *names)), otherwise)


def combine(
    layers: Iterable[SourceDefinitions], overrides: Overrides = _NO_OVERRIDES, selection: Selection = EVERYTHING
) -> Snapshot:
    """Return the snapshot of the selected kinds. Layers have the highest precedence first, overrides are above all.

    For each kind the first definition wins. A definition that is hidden by another layer is a warning, because layers
    have that purpose. Inside one layer it is an error. For each operation a script of the overrides wins over a script
    in the definition's annotation, which is a warning as well. The annotation's script wins over the definition. A kind
    with scripts needs no definition.
    """
    entries: dict[GVK, tuple[SourceDefinitions, ServedDefinition]] = {}
    findings: list[Finding] = []
    quarantined: list[Quarantined] = []
    gvks = set(overrides.scripts)
    for layer in layers:
        quarantined += layer.quarantined
        gvks |= {entry.definition.gvk for entry in layer.entries}
        for entry in layer.entries:
            if not selection.takes(entry.definition.gvk):
                continue
            winner_layer, winner = entries.setdefault(entry.definition.gvk, (layer, entry))
            if winner is not entry:
                findings.append(_hidden(winner, entry, same_layer=winner_layer is layer))
                bounded = replace(winner, definition=winner.definition.bounded_like(entry.definition))
                entries[entry.definition.gvk] = winner_layer, bounded
    served = {gvk: entry for gvk, (_, entry) in entries.items()}
    for gvk, scripts in overrides.scripts.items():
        below = served.get(gvk)
        if below:
            findings += _hidden_scripts(scripts, below)
            served[gvk] = replace(below, definition=below.definition.overridden(scripts))
            findings += counted_apart(served[gvk].definition)
        elif selection.takes(gvk):
            definition = Definition.of_scripts(gvk, scripts)
            served[gvk] = ServedDefinition(definition, definition.source)
    broken = tuple(
        quarantine for quarantine in (*quarantined, *overrides.quarantined) if selection.takes(quarantine.gvk)
    )
    return Snapshot(served, broken, (*findings, *overrides.findings, *selection.findings(gvks)))


def counted_apart(definition: Definition) -> Iterator[Finding]:
    """Yield a warning for each operation that the Karta does not answer because a script answers its other half."""
    for operation, other in OTHER_HALF.items():
        # No release of Karmada asks ReviseComponents.
        if operation != Operation.REVISE_COMPONENTS and definition.is_counted_apart(operation):
            script = definition.scripts.of(other)[0]
            message = f"{definition.gvk}: its script answers {other}, so the Karta does not answer {operation}"
            path = (*CUSTOMIZATIONS, SLOTS[other].field)
            finding = warning("counted-apart", path, message, COUNTED_APART)
            yield replace(finding, source=script.source, line=script.line, column=1 if script.line else 0)


def _named(entry: ServedDefinition, *, with_line: bool) -> str:
    name = f"{entry.definition.name} from {entry.origin}"
    return f"{name} (line {entry.line})" if with_line else name


def _hidden(winner: ServedDefinition, loser: ServedDefinition, *, same_layer: bool) -> Finding:
    is_one_file = winner.origin == loser.origin and bool(winner.line and loser.line)
    hides, hidden = _named(winner, with_line=is_one_file), _named(loser, with_line=is_one_file)
    message = f"{loser.definition.gvk}: {hides} hides {hidden}"
    twice = error("duplicate-kind", (), message, "keep one definition per kind")
    finding = twice if same_layer else warning("shadowed-kind", (), message)
    return replace(finding, source=loser.definition.source, line=loser.line, column=1 if loser.line else 0)


def _hidden_scripts(scripts: Scripts, entry: ServedDefinition) -> Iterator[Finding]:
    for loser in entry.definition.scripts:
        for winner in scripts.of(loser.operation)[:1]:
            names = f"{winner.name} from {winner.source} hides that of {loser.name} from {entry.origin}"
            message = f"{entry.definition.gvk}: the {loser.operation} of {names}"
            yield replace(warning("shadowed-script", (), message), source=entry.definition.source)
