"""Objects that no suite has: those of the suites, changed in a few random places."""

import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from random import Random
from typing import TypeAlias

from karta_interpreter.base.k8s.values import JSON

Container: TypeAlias = dict[str, JSON] | list[JSON]

_NUMBERS = (
    *(0, -1, 1, 7, 2**31, 2**53, 2**53 + 1, 10**14, 10**15, 123456789012345, 2**63 - 1),
    *(0.1, 0.5, 1.5, -2.5, 1e20, 1e21, 1e300, 5e-324, 1 / 3),
)
_TEXTS = (
    *("", " ", "0", "1", "2.50", "-3", "0x10", "1e3", "true", "nil", "100m", "1.5Gi", "2k", "1e-3", "12 34"),
    *("grüße", "日本語", "🙂 two\nlines", 'say "no"', "back\\slash", "tab\there", "a\u0000b", "%d %s %%", "[^a]*"),
    *("2024-01-02T03:04:05Z", "True", "False", "Unknown", "Ready", "Failed", "Running", "x" * 300),
)
_KEYS = ("extra", "a.b", "a:b", "1", "0", "", "Name", "replicas", "naïve", "with space", "app.kubernetes.io/name")


def mutate(value: JSON, seed: int) -> JSON:
    """Return a copy of a JSON value with one to three changes that depend on the seed alone."""
    random = Random(seed)  # noqa: S311 - the same objects every time is what is wanted
    changed = deepcopy(value)
    for _ in range(random.choice((1, 1, 2, 3))):
        containers = _containers(changed)
        if not containers:
            break
        # The deeper one of two: without kind and metadata, most scripts would have nothing to read.
        container, depth = max(random.choices(containers, k=2), key=lambda found: found[1])
        if depth or random.random() < 0.1:
            _change(container, random)
    # Parsed JSON never has one list in two places; lists that were copied above may be.
    return json.loads(json.dumps(changed))


def _containers(value: JSON, depth: int = 0) -> list[tuple[Container, int]]:
    """All objects and lists in a value, each with how deep it is."""
    if not isinstance(value, (dict, list)):
        return []
    parts = value.values() if isinstance(value, dict) else value
    return [(value, depth), *(found for part in parts for found in _containers(part, depth + 1))]


def _change(container: Container, random: Random) -> None:
    if container and random.random() < 0.8:
        keys: Sequence[str | int] = list(container) if isinstance(container, dict) else range(len(container))
        random.choice(_REPLACEMENTS)(container, random.choice(keys), random)
    elif isinstance(container, dict):
        container[random.choice(_KEYS)] = _scalar(random)
    else:
        container.append(random.choice((None, {}, [], _scalar(random))))


def _drop(container: JSON, key: str | int, _: Random) -> None:
    del container[key]


def _empty(container: JSON, key: str | int, random: Random) -> None:
    container[key] = random.choice((None, {}, [], ""))


def _retype(container: JSON, key: str | int, random: Random) -> None:
    old = container[key]
    container[key] = random.choice((_scalar(random), [old], {"value": old}, [old, old]))


def _rescale(container: JSON, key: str | int, random: Random) -> None:
    """Another value of the same type, where that means anything."""
    old = container[key]
    if isinstance(old, bool):
        container[key] = not old
    elif isinstance(old, (int, float)):
        container[key] = random.choice(_NUMBERS)
    elif isinstance(old, str):
        container[key] = random.choice(_TEXTS)
    elif isinstance(old, list):
        container[key] = [*old, *deepcopy(old[:2]), None] if random.random() < 0.5 else old[1:]
    elif isinstance(old, dict):
        container[key] = {**old, random.choice(_KEYS): random.choice(({}, [], None, _scalar(random)))}


def _scalar(random: Random) -> JSON:
    return random.choice((random.choice(_NUMBERS), random.choice(_TEXTS), random.choice((True, False))))


_REPLACEMENTS: Sequence[Callable[[JSON, str | int, Random], None]] = (_drop, _empty, _retype, _rescale, _rescale)
