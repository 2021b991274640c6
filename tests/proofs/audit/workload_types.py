"""The workload types API where there is much: pages of large types, and requests about 10,000 types."""

import asyncio
import json
import time
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path
from typing import Any, Final

from karta_interpreter.web.types_api.records import StoredType
from tests.proofs.audit.attack import Attack, Target
from tests.proofs.audit.definitions import GROUP, definition, kind_of
from tests.proofs.audit.found import Found
from tests.webhook.process.client import post

PATH: Final = "/api/v1/workload-types"
_LARGE, _SIZE, _READERS = 60, 1_800_000, 8
_MANY, _TERMS, _CHANGED = 10_000, 880, 20
_PATIENCE: Final = 30.0


def request(method: str, path: str, headers: dict[str, str], body: bytes = b"") -> bytes:
    """Return a request with a body, whatever its method."""
    return post(body, path, headers).replace(b"POST", method.encode(), 1)


def registration(number: int, expression: str) -> dict[str, Any]:
    """Return the body that registers the type of a definition."""
    return registered(kind_of(number), definition(number, expression))


def registered(kind: str, karta: dict[str, Any]) -> dict[str, Any]:
    """Return the body that registers the type of a Karta."""
    fields = {"categoryId": "train", "priorityId": "medium", "name": kind, "group": GROUP}
    return {**fields, "resourceInterfaces": [karta]}


def path_of(kind: str) -> str:
    """Return the path of a type of the group of the audit."""
    return f"{PATH}/{StoredType.new(GROUP, kind, '', '', []).id}"


def store(folder: Path, kind: str, karta: dict[str, Any]) -> None:
    """Write a type as the API stores it."""
    stored = StoredType.new(GROUP, kind, "train", "medium", [karta])
    items = {"apiVersion": "v1", "kind": "List", "items": [*stored.kartas.values()]}
    (folder / f"{kind}.{GROUP}.json").write_text(json.dumps(items))


def no_types(_: Path) -> None:
    """Store none."""


def _large(folder: Path) -> None:
    for number in range(_LARGE):
        karta = definition(number, ".spec.n[0]")
        karta["metadata"]["annotations"] = {"note": "x" * _SIZE}
        store(folder, kind_of(number), karta)


def _many(folder: Path) -> None:
    for number in range(_MANY):
        store(folder, kind_of(number), definition(number, ".spec.n[0]"))


async def _pages(target: Target) -> Found:
    """Read the first page with many clients at once, without a pause."""
    await target.flood(repeat(_page(target)), _READERS, target.effort.seconds, _PATIENCE, target.doors["types"])
    programs = [target.server, *filter(None, [target.types])]
    added = max(resident for program in programs for resident in program.resident()) - target.control.resident()[0]
    return target.found(memory_over_text=added / (_LARGE * _SIZE / 2**20))


def _page(target: Target) -> bytes:
    return request("GET", f"{PATH}?limit=200&externalTypesOnly=true", target.doors["types"].headers)


async def _crowd(target: Target) -> Found:
    """Read the first page; then filter with many conditions, register types and delete them."""
    begun = time.monotonic()
    await target.flood(iter([_page(target)]), 1, target.effort.seconds, _PATIENCE, target.doors["types"])
    first_page = time.monotonic() - begun
    await asyncio.gather(_asked(target, repeat(_filtered(target))), _asked(target, _changes(target)))
    return target.found(first_page=first_page)


def _filtered(target: Target) -> bytes:
    terms = ",".join(["name!=a"] * _TERMS)
    return request("GET", f"{PATH}?limit=1&filterBy={terms}", target.doors["types"].headers)


def _changes(target: Target) -> Iterator[bytes]:
    """Yield registrations, and the deletions of the same types."""
    numbers = range(_MANY, _MANY + _CHANGED)
    for number in numbers:
        body = json.dumps(registration(number, ".spec.n[0]")).encode()
        yield request("POST", PATH, target.doors["types"].headers, body)
    for number in numbers:
        yield request("DELETE", path_of(kind_of(number)), target.doors["types"].headers)


async def _asked(target: Target, requests: Iterator[bytes]) -> None:
    await target.flood(requests, 1, target.effort.seconds, _PATIENCE, target.doors["types"])


PAGES = Attack(_pages, types=_large, contained=False)
MANY = Attack(_crowd, types=_many, contained=False)
