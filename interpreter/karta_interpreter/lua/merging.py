"""Several customizations of one kind as one, as Karmada merges them.

See ``pkg/resourceinterpreter/customized/declarative/configmanager/{manager,accessor}.go``.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from karta_interpreter.findings import Finding, Severity
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.lua.customization import LoadedCustomization
from karta_interpreter.lua.script import SLOTS, Script, Scripts

_ALL_RUN = "InterpretDependency"


@dataclass(frozen=True, slots=True)
class Merged:
    """The scripts of every kind that has some, and the conflicts between customizations."""

    scripts: Mapping[GVK, Scripts]
    findings: tuple[Finding, ...] = ()


def merge(customizations: Iterable[LoadedCustomization]) -> Merged:
    """The customizations of each kind as one: for each operation the first script in the order of their names.

    Of InterpretDependency all scripts run. Of any other operation Karmada's webhook refuses a second script, so one
    is an error here.
    """
    found: dict[GVK, list[Script]] = {}
    findings: list[Finding] = []
    for customization in sorted(customizations, key=lambda each: each.name):
        if (gvk := customization.gvk) is None:
            continue
        for script in customization.scripts:
            kept = found.setdefault(gvk, [])
            winner = next((other for other in kept if other.operation == script.operation), None)
            if winner is None or script.operation == _ALL_RUN:
                kept.append(script)
            else:
                findings.append(_conflict(gvk, winner, script))
    return Merged(MappingProxyType({gvk: Scripts(scripts) for gvk, scripts in found.items()}), tuple(findings))


def _conflict(gvk: GVK, winner: Script, loser: Script) -> Finding:
    return Finding(
        severity=Severity.ERROR,
        rule="conflicting-scripts",
        path=("spec", "customizations", SLOTS[loser.operation].field, "luaScript"),
        message=f"{gvk}: {loser.operation} is answered by {winner.name} from {winner.source}, not by {loser.name}",
        hint="Karmada refuses a second script for an operation; remove one of them",
        source=loser.source,
        line=loser.line,
        column=1 if loser.line else 0,
    )
