"""Fat bodies to every route: small enough to be read, and dear to read, to judge or to answer."""

import json
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping
from itertools import cycle
from pathlib import Path
from typing import Any, Final

from tests.proofs.audit.admission import PATHS, review as reviewed
from tests.proofs.audit.attack import Attack, Door, Target
from tests.proofs.audit.definitions import GROUP, definition, kind_of, watched
from tests.proofs.audit.found import Found
from tests.proofs.audit.workload_types import PATH, path_of, registration, request, store
from tests.webhook.process.client import post, question

_CLIENTS, _PATIENCE = 4, 12.0
_EXPRESSION: Final = ".spec.n[0]"
_OPERATIONS: Final = ("InterpretReplica", "InterpretStatus", "InterpretHealth", "InterpretDependency", "Retain")
FIELDS: Final[Mapping[str, str]] = {
    "unknown fields": ",".join(f'"{number}":0' for number in range(190_000)),
    "keys": '"x":{' + ",".join(f'"key-{number}":{{}}' for number in range(75_000)) + "}",
    "nested objects": '"x":' + '{"a":' * 300_000 + "1" + "}" * 300_000,
    "nested arrays": '"x":' + "[" * 900_000 + "]" * 900_000,
    "a string": f'"x":"{"y" * 1_500_000}"',
    "small values": '"x":[' + "0," * 700_000 + "0]",
    "small objects": '"x":[' + '{"a":1},' * 180_000 + "0]",
}
"""Fields of a JSON object, with at most 2 MB."""
_FAT: Final = {"FAT": 0}
"""Stands in a value where the fields go."""


def filled(value: Any) -> Iterator[bytes]:
    """Yield a body for each kind of fields."""
    template = json.dumps(value)
    return (template.replace('"FAT": 0', fields).encode() for fields in FIELDS.values())


def _object(**fields: Any) -> dict[str, Any]:
    """Return an object of the type that is stored."""
    named = {"apiVersion": f"{GROUP}/v1", "kind": kind_of(0), "metadata": {"name": "x", "namespace": "y"}}
    return {**named, "spec": {"n": [1], "template": {"spec": {"containers": []}}}, **fields}


def _calls(_: Door) -> Iterator[bytes]:
    for place in ("spec", "status"):
        for operation in _OPERATIONS:
            obj = _object(**{place: _FAT})
            asked = json.loads(question(kind_of(0), operation, object=obj, observedObject=obj))
            yield from map(post, filled(asked))
    yield from map(post, filled(_FAT))
    yield from map(post, filled(json.loads(question("GrainMill", **_FAT))))


def _reviews(_: Door) -> Iterator[bytes]:
    karta = definition(0, _EXPRESSION)
    places = _FAT, {**karta, **_FAT}, {**karta, "spec": {**karta["spec"], **_FAT}}, {**karta, "metadata": _FAT}
    for path in PATHS:
        for obj in places:
            yield from (post(body, path) for body in filled(json.loads(reviewed(json.dumps(obj)))))


def _types(door: Door) -> Iterator[bytes]:
    body = registration(0, _EXPRESSION)
    (karta,) = body["resourceInterfaces"]
    fat = {**karta, "spec": {**karta["spec"], **_FAT}}
    bodies = {**body, **_FAT}, {**body, "resourceInterfaces": [fat]}, {**body, "resourceInterfaces": _FAT}, _FAT
    routes = ("POST", f"{PATH}:validate"), ("POST", PATH), ("PUT", path_of(kind_of(0)))
    for method, path in routes:
        for value in bodies:
            yield from (request(method, path, door.headers, made) for made in filled(value))


def _at(requests: Callable[[Door], Iterator[bytes]], door: str = "webhook") -> Callable[[Target], Awaitable[Found]]:
    """Return an attack that sends requests to a door, in an order of the seed."""

    async def run(target: Target) -> Found:
        opened = target.doors[door]
        made = list(requests(opened))
        random.Random(target.effort.seed).shuffle(made)  # noqa: S311 - the same every time
        await target.flood(cycle(made), _CLIENTS, target.effort.seconds, _PATIENCE, opened)
        return target.found()

    return run


def _known(folder: Path) -> tuple[str | Path, ...]:
    (folder / "known.yaml").write_text(json.dumps(definition(0, _EXPRESSION)))
    return watched(folder)


def _stored(folder: Path) -> None:
    store(folder, kind_of(0), definition(0, _EXPRESSION))


WEBHOOK = Attack(_at(_calls), _known)
REVIEWS = Attack(_at(_reviews))
TYPES = Attack(_at(_types, "types"), types=_stored)
