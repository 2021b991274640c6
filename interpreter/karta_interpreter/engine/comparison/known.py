"""The known reasons why the catalogue's Kartas answer otherwise than Karmada's own scripts."""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from karta_interpreter.base.k8s import GVK, NewObject, Object
from karta_interpreter.definitions.sources import ORIGIN
from karta_interpreter.engine.comparison.interpreter import Interpreter
from karta_interpreter.engine.suites import Difference

_TEMPLATES: Final = {"revised", "retained"}
KNOWN_FILE = Path(__file__).with_name("known.json")
"""Written from the facts of the kinds and docs/bundled-scripts.yaml by `make generate`."""


def reason_of(
    before: Interpreter | None, after: Interpreter | None, operation: str, changed: Iterable[Difference]
) -> str:
    """Return the reason if one side is the catalogue's Karta and the other one a script, or else ""."""
    if before is None or after is None:
        return ""
    sides = {_is_by_script(before, operation): before, _is_by_script(after, operation): after}
    if len(sides) < len((before, after)) or sides[False].entry.origin != ORIGIN:
        return ""
    return known_reason(sides[False].entry.definition.gvk, operation, changed)


def known_reason(gvk: GVK, operation: str, changed: Iterable[Difference]) -> str:
    """Return why the catalogue's Karta answers otherwise than Karmada's own script for a kind, "" if it is not known.

    Only the fields of a reason may differ. Without fields, everything may but a template, revised or retained.
    """
    known = _known_reasons().get(f"{gvk.api_version} {gvk.kind}", {}).get(operation)
    if known is None:
        return ""
    fields = frozenset[str](known["fields"])
    for path, *_ in changed:
        if path and (fields or path[0] in _TEMPLATES) and fields.isdisjoint(path):
            return ""
    reason: str = known["reason"]
    return reason


def _is_by_script(interpreter: Interpreter, operation: str) -> bool:
    definition = interpreter.entry.definition
    return not set(definition.scripts.of(operation)) <= set(definition.annotations.lua)


@cache
def _known_reasons() -> Mapping[str, Mapping[str, Object]]:
    reasons: NewObject = json.loads(KNOWN_FILE.read_text(encoding="utf-8"))
    return reasons
