"""Which definition is used when several sources have one for the same kind."""

from collections.abc import Iterable
from dataclasses import dataclass

from interpreter.findings import Finding, Severity
from interpreter.k8s.gvk import GVK
from interpreter.sources.snapshot import Entry, Quarantined, Snapshot


@dataclass(frozen=True, slots=True)
class Layer:
    """What one source offers: its definitions, strongest first, and what it cannot offer."""

    entries: tuple[Entry, ...] = ()
    quarantined: tuple[Quarantined, ...] = ()


def combine(layers: Iterable[Layer]) -> Snapshot:
    """The snapshot of all layers, the strongest first.

    For each kind the first definition wins. One that is hidden is never passed over in silence: by a stronger
    layer it is a warning (that is what layers are for), inside one layer an error.
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
    return Snapshot(served, tuple(quarantined), tuple(findings))


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
