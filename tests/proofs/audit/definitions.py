"""Hostile definitions: while they are loaded, while their kinds are asked, and beside an innocent bounded one."""

import asyncio
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any, Final

from tests.proofs.audit.attack import Attack, Target
from tests.proofs.audit.found import Found
from tests.webhook.process.client import post, question

GROUP: Final = "mill.example.org"
_CLIENTS, _CLIENTS_BESIDE = 6, 16
_NUMBERS, _MANY_NUMBERS, _TEXT = range(200), 2_000, "a" * 20_000


def lines_of(name: str, comment: str) -> list[str]:
    """Return the lines of a file with hostile code that are no comments."""
    text = (Path(__file__).parent / "hostile" / name).read_text()
    return [line for line in text.splitlines() if not line.startswith(comment)]


EXPRESSIONS: Final = (
    *lines_of("expressions.jq", "# "),
    ".spec.text" + " | . + ." * 40 + " | length",
    ".spec" + " | [., .]" * 40 + " | tostring | length",
    ".spec.n" + " | map([., .])" * 30 + " | tostring | length",
    '.spec.text | test("' + "(a?){1000}" * 20 + 'b")',
    '.spec.text | test("' + "(" * 900 + "a" + ")*" * 900 + '")',
    " | ".join(["."] * 20_000),
    " + ".join(["1"] * 20_000),
    "(" * 5000 + "." + ")" * 5000,
    "[" * 5000 + "]" * 5000,
    ".a" * 20_000,
    "if . then " * 3000 + "1" + " else 2 end" * 3000,
    " // ".join([".spec.x"] * 10_000),
    "[" + ", ".join(["1"] * 100_000) + "] | length",
    '"' + "\\(." * 500 + ")" * 500 + '"',
    "-" * 10_000 + "1",
    "{" + ", ".join(f"k{n}: .spec.n[{n}]" for n in range(5000)) + "} | length",
    "." + "[0]" * 20_000,
    "1" * 100_000,
    "def f: " * 2000 + "1" + "; f" * 2000,
    ". as [" * 2000 + "$x" + "]" * 2000 + " | $x",
    "try " * 5000 + "error",
    "[.spec" + " | (.a // .b)[]" * 12 + "] | length",
    "[.spec" + " | (.a0 // .a1 // .a2 // .a3)" * 9 + "] | length",
    "[.spec" + " | if .c then .a else .b end | .[]" * 12 + "] | length",
    "[.spec" + " | (select(.k) // .b)[]" * 12 + "] | length",
    "[.spec" + "[]" * 60 + "] | length",
)
"""Each is the count of a kind of its own, and of the same kind a status that is asked for its health."""


def kind_of(number: int) -> str:
    """Return the kind of the definition with that number."""
    return f"Hostile{number}"


def definition(number: int, expression: str) -> dict[str, Any]:
    """Return a Karta whose count and status are one expression."""
    root = _root("hostile", kind_of(number), expression)
    root["specDefinition"] = {"podTemplateSpecPath": ".spec.template"}
    root["scaleDefinition"] = {"replicasPath": expression}
    return _karta(f"hostile-{number}", root)


def with_children(name: str, kind: str, children: int) -> dict[str, Any]:
    """Return a Karta with that many children, each with a count of its own."""
    made = [
        {
            "name": f"c{number}",
            "ownerRef": "root",
            "specDefinition": {"podTemplateSpecPath": f".spec.a{number}.template"},
            "scaleDefinition": {"replicasPath": f".spec.a{number}.replicas // 1"},
        }
        for number in range(children)
    ]
    return _karta(name, _root("root", kind), childComponents=made)


def _root(name: str, kind: str, expression: str = ".status.phase") -> dict[str, Any]:
    matcher = {"byExpression": {"expression": expression, "expectedResult": "1"}}
    status = {"phaseDefinition": {"path": ".status.phase"}, "statusMappings": {"running": [matcher]}}
    return {"name": name, "kind": {"group": GROUP, "version": "v1", "kind": kind}, "statusDefinition": status}


def _karta(name: str, root: dict[str, Any], **more: Any) -> dict[str, Any]:
    structure = {"rootComponent": root, **more}
    return {
        "apiVersion": "run.ai/v1alpha1",
        "kind": "Karta",
        "metadata": {"name": name},
        "spec": {"structureDefinition": structure},
    }


def files() -> Iterator[tuple[str, str]]:
    """Yield names and texts of hostile files: one expression each, and shapes that no expression has."""
    for number, expression in enumerate(EXPRESSIONS):
        yield f"expression-{number}.yaml", json.dumps(definition(number, expression))
    yield "children.yaml", json.dumps(with_children("children", "Children", 1500))
    chain = _karta("chain", _root("c0", "Chain"))
    chain["spec"]["structureDefinition"]["childComponents"] = [
        {"name": f"c{number}", "ownerRef": f"c{number - 1}"} for number in range(1, 1000)
    ]
    yield "chain.yaml", json.dumps(chain)
    circle = json.loads(json.dumps(chain).replace('"chain"', '"circle"').replace("Chain", "Circle"))
    circle["spec"]["structureDefinition"]["childComponents"][0]["ownerRef"] = "c999"
    yield "circle.yaml", json.dumps(circle)
    yield (
        "aliases.yaml",
        "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}, *a{n - 1}]\n" for n in range(1, 40)),
    )
    yield "itself.yaml", "a: &a [*a]\n"
    yield "deep.yaml", "[" * 20_000 + "]" * 20_000
    yield "deep-blocks.yaml", "".join(f"{' ' * n}a:\n" for n in range(1000))
    yield "long.yaml", json.dumps(definition(10_000, ".x") | {"note": "x" * 3_000_000})
    yield "many.yaml", "---\n".join(json.dumps(definition(20_000 + n, ".spec.n[0]")) + "\n" for n in range(500))
    yield "documents.yaml", "---\n" * 50_000
    yield "bytes.yaml", "\x01\x02\ud7ff" * 1000
    yield "keys.yaml", "{" + ", ".join(f"k{n}: {n}" for n in range(20_000)) + "}"


def watched(folder: Path) -> tuple[str | Path, ...]:
    """Have the server watch the folder, which is empty."""
    return "--kartas", folder


def _written(folder: Path) -> tuple[str | Path, ...]:
    for number, expression in enumerate(EXPRESSIONS):
        (folder / f"{number}.yaml").write_text(json.dumps(definition(number, expression)))
    return watched(folder)


async def _loaded(target: Target) -> Found:
    """Put the files into a folder that the server watches, one after the other; then take them away."""
    made = list(files())
    for name, text in made:
        (target.folder / name).write_text(text)
        target.answers["file written"] += 1
        await asyncio.sleep(target.effort.seconds / len(made))
    for name, _ in made:
        (target.folder / name).unlink()
    await asyncio.sleep(2)
    return target.found()


def asked_of(kinds: Iterable[str], numbers: Sequence[int] = _NUMBERS) -> Iterator[bytes]:
    """Yield calls for the count and the health of an object of each kind."""
    spec = {"n": [*numbers], "text": _TEXT, "template": {"spec": {"containers": [{"name": "a", "image": "b"}]}}}
    for kind in kinds:
        obj = {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": "x", "namespace": "y"}, "spec": spec}
        for operation in ("InterpretReplica", "InterpretHealth"):
            yield post(question(kind, operation, object=obj | {"status": {"phase": "x"}}))


async def _asked(target: Target) -> Found:
    """Ask each kind twice."""
    await target.flood(asked_of(map(kind_of, range(len(EXPRESSIONS)))), _CLIENTS, 4 * target.effort.seconds)
    return target.found()


async def _beside(target: Target) -> Found:
    """Ask two kinds that never end, without a pause."""
    kinds = [kind_of(EXPRESSIONS.index(text)) for text in ("[until(false; .)] | length", "def f: f; f")]
    await target.flood(cycle(list(asked_of(kinds))), _CLIENTS_BESIDE, target.effort.seconds)
    return target.found()


def dear(number: int) -> dict[str, Any]:
    """Return a definition with a bounded count; its status is plain, and takes 20 to 50 ms about 2,000 numbers."""
    karta = definition(number, "reduce .spec.n[] as $each (0; . + $each)")
    (matcher,) = karta["spec"]["structureDefinition"]["rootComponent"]["statusDefinition"]["statusMappings"]["running"]
    matcher["byExpression"]["expression"] = "[.spec.n[]" + " | tostring | tonumber" * 8 + "] | add"
    return karta


def _dear(count: int) -> Attack:
    """Return an attack that asks so many of these definitions without a pause."""

    def prepare(folder: Path) -> tuple[str | Path, ...]:
        for number in range(count):
            (folder / f"{number}.yaml").write_text(json.dumps(dear(number)))
        return watched(folder)

    async def run(target: Target) -> Found:
        calls = list(asked_of(map(kind_of, range(count)), range(_MANY_NUMBERS)))
        await target.flood(cycle(calls), 2 * count, target.effort.seconds)
        return target.found()

    return Attack(run, prepare)


LOADED = Attack(_loaded, watched)
ASKED = Attack(_asked, _written)
BESIDE = Attack(_beside, _written, probes_bounded=True)
SIX, TWELVE = _dear(6), _dear(12)
