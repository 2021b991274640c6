"""Bodies for the admission of Kartas: large, deep, of many children, several at once, and of clients that leave."""

import asyncio
import json
import time
from collections.abc import Iterator
from typing import Any, Final

from tests.proofs.audit.attack import Attack, Target
from tests.proofs.audit.definitions import EXPRESSIONS, definition, with_children
from tests.proofs.audit.found import Found
from tests.webhook.process.client import post

PATHS: Final = ("/admission/validate",)
_AT_ONCE: Final = 4
_MOST_CHILDREN: Final = 8_000
_FEW, _MANY = 250, 2_000
_PATIENCE: Final = 12.0
_DEADLINE, _LOOKED_FOR = 5.0, 3.0
_HEAD: Final = (
    '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"705ab4f5-6393-11e8-b7cc-42010a800002",'
    '"kind":{"group":"run.ai","version":"v1alpha1","kind":"Karta"},"operation":"CREATE","name":"x","object":'
)


def review(obj: str) -> bytes:
    """Return the body of a review of an object."""
    return f"{_HEAD}{obj}}}}}".encode()


def of_children(count: int) -> bytes:
    """Return the review of a definition with so many children."""
    return review(json.dumps(with_children("many", "Many", count)))


def of_strangers(count: int) -> bytes:
    """Return the same where each child names an owner that does not exist, and so does an annotation."""
    made = with_children("many", "Many", count)
    for child in made["spec"]["structureDefinition"]["childComponents"]:
        child["ownerRef"] = f"x{child['name']}"
    made["metadata"]["annotations"] = {
        "karta-interpreter.io/elastic": ",".join(f"y{number}" for number in range(count))
    }
    return review(json.dumps(made))


def hostile() -> Iterator[bytes]:
    """Yield bodies, the dearest ones last."""
    for number, expression in enumerate(EXPRESSIONS):
        yield review(json.dumps(definition(number, expression)))
    deep = 3 * 2**20
    yield review("[" * (deep // 2 - 200) + "]" * (deep // 2 - 200))
    yield review('{"a":' * (deep // 6 - 60) + "{}" + "}" * (deep // 6 - 60))
    yield review(_wide(deep - 500))
    wide: dict[str, Any] = with_children("wide", "Wide", 1)
    wide["metadata"]["annotations"] = {f"karta-interpreter.io/x{number}": "y" for number in range(20_000)}
    yield review(json.dumps(wide))
    yield review(json.dumps(wide | {"spec": {f"x{number}": {} for number in range(50_000)}}))
    yield review("1" * 1_000_000)
    yield review(_wide(31_000_000))


def _wide(size: int) -> str:
    return '{"a":[' + '{"a":{}},' * (size // 9) + "{}]}"


_GROWING: Final = (of_children, of_strangers)


async def _bodies(target: Target) -> Found:
    """Send each body to both paths, the largest ones four at once, and measure how the time grows with the children."""
    bodies = list(hostile())
    for path in PATHS:
        await target.flood((post(body, path) for body in bodies), 2, target.effort.seconds, _PATIENCE)
        await target.flood([post(bodies[-1], path)] * _AT_ONCE, _AT_ONCE, target.effort.seconds, _PATIENCE)
    growth = [await _cpu(target, make(_MANY)) / await _cpu(target, make(_FEW)) for make in _GROWING]
    await target.flood([post(of_children(_MOST_CHILDREN), PATHS[0])] * _AT_ONCE, _AT_ONCE, 1, _PATIENCE)
    return target.found(growth=max(growth))


async def _cpu(target: Target, body: bytes) -> float:
    """Return the processor time of one review, which a busy machine does not change."""
    client, before = await target.connect(), target.server.cpu()
    client, _ = await target.ask(client, post(body, PATHS[0]), 3 * _PATIENCE)
    await client.close()
    return target.server.cpu() - before


async def _left(target: Target) -> Found:
    """Send dear reviews and hang up; past their deadline look for how busy the server is."""
    request = post(of_children(_MOST_CHILDREN), PATHS[0])
    for _ in range(_AT_ONCE):
        client = await target.connect()
        await client.send(request)
        await asyncio.sleep(0.2)
        await client.close()
        target.answers["client left"] += 1
    await asyncio.sleep(_DEADLINE)
    before, begun = target.server.cpu(), time.monotonic()
    await asyncio.sleep(_LOOKED_FOR)
    return target.found(busy_afterwards=(target.server.cpu() - before) / (time.monotonic() - begun))


BODIES = Attack(_bodies, contained=False)
LEFT = Attack(_left, contained=False)
