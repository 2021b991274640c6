"""Which kinds are served, which definition where several sources have one, and which script over it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from karta_interpreter.findings import Finding, Severity, warning
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.karta.definition import Definition
from karta_interpreter.lua.script import Script, Scripts
from karta_interpreter.sources.overrides import Overrides
from karta_interpreter.sources.snapshot import Entry, Layer, Quarantined, Snapshot
from karta_interpreter.suggestion import did_you_mean

_NO_OVERRIDES = Overrides()


def combine(layers: Iterable[Layer], overrides: Overrides = _NO_OVERRIDES) -> Snapshot:
    """The snapshot of all layers, the strongest first, with the overrides over all of them.

    For each kind the first definition wins. One that is hidden is never passed over in silence: by a stronger
    layer it is a warning (that is what layers are for), inside one layer an error. For each operation a script of the
    overrides wins over one in the definition's annotation, which is a warning, too, and that over the definition. A
    kind with scripts needs no definition.
    """
    entries: dict[GVK, tuple[Layer, Entry]] = {}
    findings: list[Finding] = []
    quarantined: list[Quarantined] = []
    for layer in layers:
        quarantined += layer.quarantined
        for entry in layer.entries:
            winner_layer, winner = entries.setdefault(entry.definition.gvk, (layer, entry))
            if winner is not entry:
                findings.append(_hidden(winner, entry, same_layer=winner_layer is layer))
    served = {gvk: entry for gvk, (_, entry) in entries.items()}
    for gvk, scripts in overrides.scripts.items():
        findings += _hidden_scripts(scripts, served[gvk]) if gvk in served else ()
        served[gvk] = _overridden(gvk, served.get(gvk), scripts)
    return Snapshot(served, (*quarantined, *overrides.quarantined), (*findings, *overrides.findings))


def _overridden(gvk: GVK, entry: Entry | None, scripts: Scripts) -> Entry:
    if entry:
        return Entry(entry.definition.overridden(scripts), entry.origin)
    definition = Definition.of_scripts(gvk, scripts)
    return Entry(definition, definition.source)


def _hidden(winner: Entry, loser: Entry, *, same_layer: bool) -> Finding:
    names = f"{winner.definition.name} from {winner.origin} hides {loser.definition.name} from {loser.origin}"
    return Finding(
        severity=Severity.ERROR if same_layer else Severity.WARNING,
        rule="duplicate-kind" if same_layer else "shadowed-kind",
        path=(),
        message=f"{loser.definition.gvk}: {names}",
        hint="keep one definition per kind" if same_layer else "",
        source=loser.definition.source,
    )


def _hidden_scripts(scripts: Scripts, entry: Entry) -> Iterator[Finding]:
    for loser in entry.definition.scripts:
        for winner in scripts.of(loser.operation)[:1]:
            yield _hidden_script(winner, loser, entry)


def _hidden_script(winner: Script, loser: Script, entry: Entry) -> Finding:
    names = f"{winner.name} from {winner.source} hides that of {loser.name} from {entry.origin}"
    return Finding(
        severity=Severity.WARNING,
        rule="shadowed-script",
        path=(),
        message=f"{entry.definition.gvk}: the {loser.operation} of {names}",
        source=entry.definition.source,
    )


_ALL = "*"


@dataclass(frozen=True, slots=True)
class Selection:
    """The kinds that are named by ``kinds``, or all where that is empty, without those that ``without`` names.

    A name is a kind in any case, ``apiVersion/Kind``, or ``apiVersion/*`` for all kinds of an API version.

    >>> Selection(without=("apps/v1/*", "Job")).takes(GVK("batch", "v1", "Job"))
    False
    """

    kinds: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    def takes(self, gvk: GVK) -> bool:
        """Whether a kind is served."""
        names = _names(gvk)
        named = not self.kinds or any(kind.lower() in names for kind in self.kinds)
        return named and not any(kind.lower() in names for kind in self.without)

    def layer(self, layer: Layer) -> Layer:
        """What is taken of a source; what cannot be read may be of any kind."""
        if not (self.kinds or self.without):
            return layer
        return Layer(
            tuple(entry for entry in layer.entries if self.takes(entry.definition.gvk)),
            tuple(broken for broken in layer.quarantined if broken.gvk is None or self.takes(broken.gvk)),
        )

    def overrides(self, overrides: Overrides) -> Overrides:
        """The scripts that are taken: one alone would answer for its kind as well."""
        taken = {gvk: scripts for gvk, scripts in overrides.scripts.items() if self.takes(gvk)}
        return replace(overrides, scripts=taken)

    def findings(self, known: Iterable[GVK]) -> Iterator[Finding]:
        """A warning for each name that fits none of the kinds that the sources have."""
        known = sorted(known)
        for flag, kinds in (("--kinds", self.kinds), ("--without", self.without)):
            for kind in kinds:
                if not any(kind.lower() in _names(gvk) for gvk in known):
                    hint = did_you_mean(kind, _spellings(kind, known))
                    yield warning("unknown-kind", (), f"{flag} {kind}: there is no definition for it", hint)


EVERYTHING = Selection()


def _names(gvk: GVK) -> frozenset[str]:
    version = f"{gvk.api_version}/".lower()
    return frozenset({gvk.kind.lower(), version + gvk.kind.lower(), version + _ALL})


def _spellings(kind: str, known: Iterable[GVK]) -> list[str]:
    """The known names of the form that one has."""
    if "/" not in kind:
        return sorted({gvk.kind for gvk in known})
    ending = [_ALL] if kind.endswith(_ALL) else []
    return list(dict.fromkeys(f"{gvk.api_version}/{name}" for gvk in known for name in ending or [gvk.kind]))
