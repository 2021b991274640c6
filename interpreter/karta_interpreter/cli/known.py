"""The reasons why Kartas of the catalogue answer otherwise than the scripts that Karmada bundles."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from karta_interpreter.cli.definitions import Interpreter
from karta_interpreter.definitions.sources.files import ORIGIN

FILE = Path(__file__).with_name("known.json")
"""Written from docs/conformance.md by `make generate`."""


def reason_of(before: Interpreter | None, after: Interpreter | None, operation: str) -> str:
    """Return the reason where one side is the catalogue's Karta and the other one a script; empty without one."""
    if before is None or after is None:
        return ""
    sides = {_by_script(before, operation): before, _by_script(after, operation): after}
    if len(sides) < len((before, after)) or sides[False].entry.origin != ORIGIN:
        return ""
    gvk = sides[False].entry.definition.gvk
    return _reasons().get(f"{gvk.api_version} {gvk.kind}", {}).get(operation, "")


def _by_script(interpreter: Interpreter, operation: str) -> bool:
    return not interpreter.entry.definition.has_karta or operation in interpreter.entry.definition.scripts.operations


@cache
def _reasons() -> Mapping[str, Mapping[str, str]]:
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found
