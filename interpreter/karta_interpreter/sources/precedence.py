"""Which definition is used when several sources have one for the same kind, and which script over it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from karta_interpreter.findings import Finding, Severity
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.karta.definition import Definition
from karta_interpreter.lua.script import Script, Scripts
from karta_interpreter.sources.overrides import Overrides
from karta_interpreter.sources.snapshot import Entry, Quarantined, Snapshot


@dataclass(frozen=True, slots=True)
class Layer:
    """What one source offers: its definitions, strongest first, and what it cannot offer."""

    entries: tuple[Entry, ...] = ()
    quarantined: tuple[Quarantined, ...] = ()


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
