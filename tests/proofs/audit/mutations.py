"""Bodies that no client should send, made of good ones: the same ones for the same seed."""

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from tests.webhook.process.conversations import Spoken, bodies

Mutation = Callable[[random.Random, bytes], bytes]

_KEY = re.compile(rb'"([A-Za-z]+)":')
_NUMBER = re.compile(rb"(?<=:)\d+(?=[,}])")
_STRING = re.compile(rb'(?<=:)"[^"\\]*"')
_NUMBERS: Final = (
    "1e400",
    "-1e400",
    "9" * 400,
    "1" + "0" * 5000,
    "0." + "1" * 5000,
    "1e-99999",
    "-0",
    "01",
    "NaN",
    "0x1",
)
_STRINGS: Final = (
    b'"\\ud800"',
    b'"\\udc00\\ud800"',
    b'"\\u0000"',
    b'"\xff\xfe"',
    b'"\xc0\x80"',
    b'"\xed\xa0\x80"',
    b'"\x00"',
    b'"\\x41"',
    b'"' + b"\\u0041" * 2000 + b'"',
    b'"' + "🌾".encode() * 2000 + b'"',
    b"'x'",
    b'"\n"',
)
_DEEP: Final = (200, 1000, 1100, 20_000, 100_000)
_AROUND: Final = (b"\xef\xbb\xbf", b"\0", b" " * 5000, b"\n\t\r", b"//x\n", b"\xff\xfe", b"\x1e")


def _key_twice(chance: random.Random, body: bytes) -> bytes:
    """Repeat a key with another value, before or behind the first one."""
    key: bytes = chance.choice(_KEY.findall(body) or [b"object"])
    value = chance.choice((b"null", b"1", b'"x"', b"[]", b'{"a":1}'))
    at = chance.choice([found.end() for found in re.finditer(rb"\{", body)] or [0])
    return body[:at] + b'"' + key + b'":' + value + b"," + body[at:]


def _keys_shuffled(chance: random.Random, body: bytes) -> bytes:
    """Write the fields of envelope and request in another order."""
    envelope = json.loads(body)
    envelope["request"] = _shuffled(chance, envelope["request"])
    return json.dumps(_shuffled(chance, envelope), separators=(",", ":")).encode()


def _shuffled(chance: random.Random, value: dict[str, object]) -> dict[str, object]:
    keys = chance.sample(list(value), len(value))
    return {key: value[key] for key in keys}


def _key_respelled(chance: random.Random, body: bytes) -> bytes:
    """Write a key with an escape, or with another case."""
    found = chance.choice(list(_KEY.finditer(body)))
    key = found[1]
    other = b"\\u%04x" % key[0] + key[1:] if chance.random() < 0.5 else key.swapcase()
    return body[: found.start(1)] + other + body[found.end(1) :]


def _number_odd(chance: random.Random, body: bytes) -> bytes:
    """Write a number that is too large, too long, or none."""
    return _instead(chance, _NUMBER, body, chance.choice(_NUMBERS).encode())


def _string_odd(chance: random.Random, body: bytes) -> bytes:
    """Write a string that is not UTF-8, or no text."""
    return _instead(chance, _STRING, body, chance.choice(_STRINGS))


def _deep(chance: random.Random, body: bytes) -> bytes:
    """Put a value that is nested deep where a string was."""
    depth = chance.choice(_DEEP)
    deep = b"[" * depth + b"]" * depth if chance.random() < 0.5 else b'{"a":' * depth + b"1" + b"}" * depth
    return _instead(chance, _STRING, body, deep)


def _cut(chance: random.Random, body: bytes) -> bytes:
    """Leave out the end."""
    return body[: chance.randint(1, len(body))]


def _more(chance: random.Random, body: bytes) -> bytes:
    """Add bytes before or behind."""
    around = chance.choice(_AROUND)
    return around + body if chance.random() < 0.5 else body + around + chance.choice((b"", b"{}"))


def _instead(chance: random.Random, pattern: re.Pattern[bytes], body: bytes, value: bytes) -> bytes:
    found = list(pattern.finditer(body))
    if not found:
        return body
    at = chance.choice(found)
    return body[: at.start()] + value + body[at.end() :]


MUTATIONS: Final[dict[str, Mutation]] = {
    "a key twice": _key_twice,
    "keys in another order": _keys_shuffled,
    "a key respelled": _key_respelled,
    "an odd number": _number_odd,
    "an odd string": _string_odd,
    "deep nesting": _deep,
    "a body cut off": _cut,
    "bytes around": _more,
}


def mutants(seed: int, cases: Sequence[Spoken]) -> Iterator[bytes]:
    """Yield bodies without end: one of these mutations, then a body that is spoilt in its object, and so on."""
    chance = random.Random(seed)  # noqa: S311 - the same every time
    for number in range(seed * 1_000_000, (seed + 1) * 1_000_000):
        mutate = chance.choice(list(MUTATIONS.values()))
        yield mutate(chance, chance.choice(cases).body)
        yield from bodies(number, 1, cases)
