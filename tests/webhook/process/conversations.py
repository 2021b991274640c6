"""Requests as Karmada writes them, and all that may become of them on their way: for two servers to be compared."""

import copy
import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, count as count_up, islice, pairwise
from typing import Any

from karta_interpreter.engine.operations import Call
from karta_interpreter.engine.suites.suite import Case
from tests.catalogue.entries import entries
from tests.catalogue.test_robustness import places, spoilt
from tests.webhook.process.client import post

SPLINTERS: tuple[bytes, ...] = (
    b"", b" ", b"\t", b"\r\n", b"\0", b"\x7f", b"0", b"9", b"-", b"-0", b".", b"e", b"1e9", b":", b",", b'"', b"\\",
    b"\\u0073", b"\\ud800", b"\\ud83d\\ude00", b"{", b"}", b"[", b"]", b"{}", b"null", b"tru", b"NaN", b'"spec":1,',
    b'"":{},', b"\xff", b"\xc3\xbc", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"9" * 30, b"9" * 300, b"[" * 90 + b"]" * 90,
)  # fmt: skip
NUMBERS: tuple[str, ...] = (
    "-0", "-0.0", "1.0", "1E3", "3e0", "1e-400", "1.7976931348623157e308", "9007199254740993", "2147483648", "01", "1.",
    "+1", str(2**63), str(2**64), str(-(2**63) - 1), "9" * 40, "9" * 299, "0." + "1" * 290,
)  # fmt: skip
DEPTHS = (3, 100, 990, 1500)
_BEYOND_DOUBLES = re.compile(rb"[0-9.]{300,}|[eE]\+?[0-9]{3}")
_NESTED = re.compile(rb"(\[){900}")
_LINES = "\n\t"
_OPERATION = re.compile(rb'(?<="operation":")[A-Za-z]+')
ABOUT_ONE_OBJECT = (
    b"InterpretReplica",
    b"InterpretComponent",
    b"InterpretHealth",
    b"InterpretStatus",
    b"InterpretDependency",
)


@dataclass(frozen=True, slots=True)
class Spoken:
    """A suite's case as the body of a request."""

    source: str
    body: bytes


@cache
def suite_cases() -> Sequence[Spoken]:
    """Return every case of the catalogue's suites."""
    return _spoken(case for entry in entries() for case in entry.cases)


@cache
def swept_cases() -> Sequence[Spoken]:
    """Return those of them that a sweep takes."""
    return _spoken(case for entry in entries() for case in entry.swept)


def _spoken(cases: Iterable[Case]) -> Sequence[Spoken]:
    return [Spoken(f"{case.source}:{case.line}", spoken(case.call)) for case in cases]


def spoken(call: Call) -> bytes:
    """Return the body that Go writes for a call."""
    return written(request_of(call)).encode() + b"\n"


def request_of(call: Call) -> dict[str, Any]:
    """Return the request with its fields in Go's order."""
    obj = json.loads(json.dumps(call.object))
    group, _, version = obj["apiVersion"].rpartition("/")
    return {
        "uid": "3f1d8f0e-6a0b-4f4e-9c1d-000000000001",
        "kind": {"group": group, "version": version, "kind": obj["kind"]},
        "name": "rye",
        "namespace": "bakery",
        "operation": call.operation.value,
        "object": obj,
        **({"observedObject": call.observed} if call.observed is not None else {}),
        "replicas": call.replicas or 0,
        **({"components": [part._asdict() for part in call.components]} if call.components is not None else {}),
        **({"aggregatedStatus": [item.to_json() for item in call.items]} if call.items else {}),
    }


def written(request: dict[str, Any], **style: Any) -> str:
    """Return the JSON of the context around a request."""
    context = {"kind": "ResourceInterpreterContext", "apiVersion": "config.karmada.io/v1alpha1", "request": request}
    return json.dumps(context, **{"ensure_ascii": False, "separators": (",", ":"), **style})


class Mischief:
    """Makes requests of cases, and of requests conversations; always the same ones for a seed."""

    def __init__(self, seed: int, cases: Sequence[Spoken]) -> None:
        self._chance = random.Random(seed)  # noqa: S311 - the same every time
        self._cases = cases

    def conversation(self) -> tuple[int, list[bytes]]:
        """Return a number of requests, and the pieces in which they arrive."""
        chance = self._chance
        requests = [self.request() for _ in range(chance.choice((1, 1, 2, 4)))]
        stream = b"".join(requests)
        ends = [sum(map(len, requests[:count])) for count in range(len(requests) + 1)]
        together = chance.random() < 0.2
        pieces = {0, len(stream), *(() if together else ends)}
        for _ in range(chance.choice((0, 0, 1, 3))):
            # Where Karmada's client cuts, and anywhere else.
            pieces.add(chance.choice((min(4096, len(stream)), chance.randint(0, len(stream)))))
        return len(requests), [stream[start:end] for start, end in pairwise(sorted(pieces))]

    def request(self) -> bytes:
        """Return one request."""
        request = post(self.body())
        if self._chance.random() < 0.02:
            request = self._damaged(request, 300)
        if self._chance.random() < 0.01:
            request = request[: self._chance.randint(1, len(request))]
        return request

    def body(self) -> bytes:
        """Return one body, whose unread parts the two ways of reading are to agree about."""
        while True:
            body = self._body()
            # Only those who read a number see that it is beyond doubles, and only those who enter how deep it is.
            if not _BEYOND_DOUBLES.search(body) and not _NESTED.search(body):
                return body

    def _body(self) -> bytes:
        chance = self._chance
        body = chance.choice(self._cases).body
        mischief = chance.random()
        if mischief < 0.05:
            return body
        if mischief < 0.6:
            request = json.loads(body)["request"]
            for change in chance.sample((self._spoil, self._shuffle, self._plant), chance.randint(1, 2)):
                request["object"] = change(request["object"])
            body = written(request, ensure_ascii=chance.random() < 0.3).encode() + b"\n"
            body = self._numbered(body)
        if chance.random() < 0.15:
            body = self._respelled(body)
        if chance.random() < 0.3:
            body = self._damaged(body, len(body))
        if chance.random() < 0.05:
            body = body[: chance.randint(0, len(body))]
        return body

    def _spoil(self, obj: dict[str, Any]) -> dict[str, Any]:
        return dict(spoilt(self._chance, obj))

    def _shuffle(self, value: Any) -> Any:
        if isinstance(value, dict):
            keys = self._chance.sample(list(value), len(value))
            return {key: self._shuffle(value[key]) for key in keys}
        return [self._shuffle(each) for each in value] if isinstance(value, list) else value

    def _plant(self, obj: dict[str, Any]) -> dict[str, Any]:
        """Put something deep, a number to be replaced, or another part of the same object into some place."""
        obj, chance = copy.deepcopy(obj), self._chance
        found = [place for place in places(obj) if place[0] not in ("apiVersion", "kind")]
        if not found:
            return obj
        *parents, last = chance.choice(found)
        owner: Any = obj
        for key in parents:
            owner = owner[key]
        depth = chance.choice(DEPTHS)
        deep = '{"a":' * depth + "1" + "}" * depth
        planted: Sequence[Any] = (f"@{deep}@", f"@{'[' * depth}{']' * depth}@", f"@{chance.choice(NUMBERS)}@", owner)
        owner[last] = copy.deepcopy(chance.choice(planted))
        return obj

    def _numbered(self, body: bytes) -> bytes:
        return body.replace(b'"@', b"").replace(b'@"', b"")

    def _respelled(self, body: bytes) -> bytes:
        """Write the same with other white space or with escapes."""
        chance = self._chance
        try:
            context = json.loads(body)
        except (ValueError, RecursionError):
            return body
        if chance.random() < 0.5:
            return json.dumps(context, indent=chance.choice((1, _LINES)), separators=(" , ", " : ")).encode()
        head, mark, rest = body.partition(b'"object":')
        escaped = re.sub(rb"[a-z]", lambda letter: self._escaped(letter[0]), rest)
        spaced = re.sub(rb'(?<=[\[{,:])(?=["{\[0-9])', lambda _: chance.choice((b"", b"", b" ", b"\n\t")), escaped)
        return head + mark + spaced

    def _escaped(self, letter: bytes) -> bytes:
        return b"\\u%04x" % letter[0] if self._chance.random() < 0.02 else letter

    def _damaged(self, body: bytes, until: int) -> bytes:
        for _ in range(self._chance.randint(1, 2)):
            start = self._chance.randint(0, min(until, len(body)))
            end = start + self._chance.randint(0, 4)
            body = body[:start] + self._chance.choice(SPLINTERS) + body[end:]
        return body


def bodies(seed: int, count: int, cases: Sequence[Spoken]) -> Iterator[bytes]:
    """Yield that many bodies, asking each question that needs nothing else about every object."""
    mischief = Mischief(seed, cases)
    made = (mischief.body() for _ in count_up())
    return islice(chain.from_iterable(map(asking_all, made)), count)


def asking_all(body: bytes) -> Iterator[bytes]:
    """Yield a body, and the same with other operations."""
    yield body
    for operation in ABOUT_ONE_OBJECT:
        yield _OPERATION.sub(operation, body, count=1)


def conversations(seed: int, requests: int, cases: Sequence[Spoken]) -> Iterator[list[bytes]]:
    """Yield conversations with so many requests together, or a few more."""
    mischief, made = Mischief(seed, cases), 0
    while made < requests:
        count, pieces = mischief.conversation()
        made += count
        yield pieces
