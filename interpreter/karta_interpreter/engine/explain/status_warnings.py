"""Warnings: phases that no mapping fits."""

from collections.abc import Iterator
from typing import Final

from karta_interpreter.base.k8s import Object
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.engine.evaluation import Status, match_status
from karta_interpreter.engine.explain.explanation import Fact
from karta_interpreter.engine.explain.reading import about, readings

_PHASE: Final = "statusDefinition.phaseDefinition.path"


def status_warnings(definition: Definition, obj: Object) -> Iterator[Fact]:
    """Yield the phase of an object that fits no mapping, if nothing else gives its status."""
    rules = definition.status
    if rules is None or rules.phase is None or not obj.get("status"):
        return
    match = match_status(definition, obj)
    phases = dict.fromkeys(matcher.phase for _, several in rules.mappings for matcher in several if matcher.phase)
    if match.matched == (Status.UNDEFINED,) and match.phase and phases and match.phase not in phases:
        note = f'phase "{match.phase}" from {rules.phase.text} fits no mapping; there are {", ".join(phases)}'
        places = readings(rules.phase, obj)[0].places
        yield about(definition, definition.root, _PHASE, rules.phase, "phase-unmapped", note, places=places)
