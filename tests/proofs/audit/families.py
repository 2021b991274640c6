"""Families of expressions whose paths multiply with their length: loaded from a folder, and registered as types."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from tests.proofs.audit.attack import Attack, Target
from tests.proofs.audit.definitions import asked_of, definition, kind_of, watched, with_children
from tests.proofs.audit.found import Found
from tests.proofs.audit.workload_types import PATH, no_types, path_of, registered, request

_STEPS: Final = (
    "(.a // .b)[]",
    "(.a // .b)",
    "(.a0 // .a1 // .a2 // .a3)",
    "if .c then .a else .b end | .[]",
    "if .c then .a elif .d then .b else .e end",
    "(select(.k) // .b)[]",
    "select(.a or .b)",
    "(.a, .b)",
    "(.a[] // .b[])",
    "((.a // .b) // (.c // .d))[]",
    "(.a // .b) as $x | $x",
    "[(.a // .b), .c][0]",
)
_LENGTHS: Final = (8, 12, 40, 400)
_CHILDREN, _TOGETHER, _AROUND, _LONG = 282, 470_000, 10, "Long"
_CLIENTS, _APART, _PATIENCE = 4, 0.05, 30.0
_UNKNOWN: Final = b'"code":404'


def expressions() -> list[str]:
    """Return one for each step and length; the first one with 12 steps has 196 bytes."""
    return [f"[.spec{f' | {step}' * length}] | length" for length in _LENGTHS for step in _STEPS]


def long_karta() -> dict[str, Any]:
    """Return a Karta of 470 KB with 282 expressions of the first family."""
    karta = with_children("long", _LONG, _CHILDREN)
    for child in karta["spec"]["structureDefinition"]["childComponents"]:
        step = f" | {_STEPS[0]}"
        steps = step * (_TOGETHER // _CHILDREN // len(step) - _AROUND)
        child["scaleDefinition"]["replicasPath"] = f"[.spec{steps}] | length"
        child["specDefinition"] = {"podTemplateSpecPath": ".spec.template"}
    return karta


def kartas() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the kind and the Karta of each."""
    for number, expression in enumerate(expressions()):
        yield kind_of(number), definition(number, expression)
    yield _LONG, long_karta()


async def _loaded(target: Target) -> Found:
    """Write them into a folder that the server watches, ask each, and again after another change of definitions."""
    kinds = []
    for kind, karta in kartas():
        (target.folder / f"{kind}.yaml").write_text(json.dumps(karta))
        kinds.append(kind)
        await asyncio.sleep(_APART)
    await _ask_twice(target, kinds)
    for kind in kinds:
        (target.folder / f"{kind}.yaml").unlink()
    return target.found()


async def _registered(target: Target) -> Found:
    """Register them one after the other, and ask them in the same way."""
    made = dict(kartas())
    bodies = (json.dumps(registered(kind, karta)).encode() for kind, karta in made.items())
    requests = (request("POST", PATH, target.doors["types"].headers, body) for body in bodies)
    await target.flood(requests, 1, 2 * target.effort.seconds, _PATIENCE, target.doors["types"])
    await _ask_twice(target, [*made])
    deletions = (request("DELETE", path_of(kind), target.doors["types"].headers) for kind in made)
    await target.flood(deletions, 1, target.effort.seconds, _PATIENCE, target.doors["types"])
    return target.found()


async def _ask_twice(target: Target, kinds: Sequence[str]) -> None:
    for turn in range(2):
        other = 1000 + turn
        (target.folder / "other.yaml").write_text(json.dumps(definition(other, ".spec.n[0]")))
        await _until_known(target, kind_of(other))
        await target.flood(asked_of(kinds), _CLIENTS, target.effort.seconds, _PATIENCE)


async def _until_known(target: Target, kind: str) -> None:
    """Wait until the server has read a definition, and so those that were written before."""
    client = await target.connect()
    await client.ask_until(next(asked_of([kind])), lambda answer: _UNKNOWN not in answer.body)
    await client.close()


LOADED = Attack(_loaded, watched)
REGISTERED = Attack(_registered, watched, types=no_types)
