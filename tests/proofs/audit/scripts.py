"""Hostile scripts of ResourceInterpreterCustomizations, each over a kind of its own."""

import json
from collections.abc import Iterator, Mapping
from itertools import cycle
from pathlib import Path
from typing import Final

from tests.proofs.audit.attack import Attack, Target
from tests.proofs.audit.definitions import GROUP, lines_of
from tests.proofs.audit.found import Found
from tests.webhook.process.client import post, question

_CLIENTS: Final = 4

BODIES: Final = lines_of("bodies.lua", "-- ")
TEXTS: Final = (
    "while true do end",
    "local t = {} while true do t[#t + 1] = {} end",
    "error(('x'):rep(1e8))",
    "return " + "(" * 10_000 + "1" + ")" * 10_000,
    "local " + ", ".join(f"a{n}" for n in range(300)) + " = 1",
    "x = 1 " * 40_000,
    "do " * 10_000 + "end " * 10_000,
    "function InterpretHealth(o) return " + "o and " * 40_000 + "o end",
    "\x1bLua",
    "--[[" + "x" * 200_000,
    "return '" + "\\255" * 50_000 + "'",
    "function InterpretHealth(o)",
)
"""What stands outside of a function runs before it is there."""


def texts() -> list[str]:
    """Return the scripts: with a function that is hostile, and with hostile text before one."""
    functions = [f"function InterpretHealth(o) {body} end" for body in BODIES]
    return [*functions, *(f"{text}\nfunction InterpretHealth(o) return true end" for text in TEXTS)]


FAT: Final = (
    *(f"local t = {{}} for i = 1, {keys} do t['k' .. i] = i end return t" for keys in (10_000, 30_000, 75_000)),
    *(f"local t = {{}} for i = 1, {keys} do t[i] = {{a = i}} end return t" for keys in (10_000, 75_000)),
    "local t = {spec = {}} for i = 1, 75000 do t.spec['k' .. i] = {} end return t",
    "local t = {} for i = 1, 400 do t = {a = t} end return t",
    "return {text = ('x'):rep(1000000)}",
)
"""Bodies of functions with large results: on a busy machine the largest take longer than a script may."""
_FIELDS: Final = {
    "InterpretStatus": ("statusReflection", "ReflectStatus(a)"),
    "Retain": ("retention", "Retain(a, b)"),
    "ReviseReplica": ("replicaRevision", "ReviseReplica(a, b)"),
    "InterpretDependency": ("dependencyInterpretation", "GetDependencies(a)"),
    "InterpretComponent": ("componentResource", "GetComponents(a)"),
}


def _customization(folder: Path, number: int, scripts: Mapping[str, str]) -> None:
    """Write one with scripts by field for a kind of its own."""
    customization = {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterCustomization",
        "metadata": {"name": f"script-{number}"},
        "spec": {
            "target": {"apiVersion": f"{GROUP}/v1", "kind": f"Script{number}"},
            "customizations": {field: {"luaScript": text} for field, text in scripts.items()},
        },
    }
    (folder / f"{number}.yaml").write_text(json.dumps(customization))


def written(folder: Path) -> tuple[str | Path, ...]:
    for number, text in enumerate(texts()):
        _customization(folder, number, {"healthInterpretation": text})
    return "--overrides", folder


def _with_results(folder: Path) -> tuple[str | Path, ...]:
    for number, body in enumerate(FAT):
        scripts = {field: f"function {head} {body} end" for field, head in _FIELDS.values()}
        _customization(folder, number, scripts)
    return "--overrides", folder


def _questions() -> Iterator[bytes]:
    for number in range(len(texts())):
        yield from (post(question(f"Script{number}", "InterpretHealth")) for _ in range(2))


async def asked(target: Target) -> Found:
    """Ask for each script twice."""
    await target.flood(_questions(), _CLIENTS, 4 * target.effort.seconds)
    return target.found()


async def _results(target: Target) -> Found:
    """Ask for the large results in turns."""
    kinds = [f"Script{number}" for number in range(len(FAT))]
    calls = [
        post(question(kind, operation, observedObject=json.loads(question(kind))["request"]["object"]))
        for kind in kinds
        for operation in _FIELDS
    ]
    await target.flood(cycle(calls), _CLIENTS, target.effort.seconds)
    return target.found()


ASKED = Attack(asked, written)
RESULTS = Attack(_results, _with_results)
