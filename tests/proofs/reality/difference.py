"""Where two objects differ, and whether they differ in spelling only."""

import json
from collections.abc import Iterator
from typing import Any

from tests.proofs.reality.resources import quantity

_SHOWN = 120


def differences(before: Any, after: Any, path: str = "") -> list[str]:
    """Return one line for each place where a value has changed."""
    return list(_differences(before, after, path))


def same_meaning(before: Any, after: Any) -> bool:
    """Whether values differ only in what Go's types drop or respell: empty values, false, and quantities."""
    return bool(_normal(before) == _normal(after))


def _differences(before: Any, after: Any, path: str) -> Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted({*before, *after}):
            if name not in after:
                yield f"{path}.{name}: gone {_text(before[name])}"
            elif name not in before:
                yield f"{path}.{name}: new {_text(after[name])}"
            else:
                yield from _differences(before[name], after[name], f"{path}.{name}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _differences(one, other, f"{path}[{index}]")
    elif before != after or type(before) is not type(after):
        yield f"{path}: {_text(before)} -> {_text(after)}"


def _text(value: Any) -> str:
    return json.dumps(value)[:_SHOWN]


def _normal(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        if name in {"requests", "limits"}:
            return {resource: quantity(amount) for resource, amount in value.items()}
        normal = {key: _normal(part, key) for key, part in value.items()}
        return {key: part for key, part in normal.items() if part not in ({}, [], None, "") and part is not False}
    if isinstance(value, list):
        return [_normal(part) for part in value]
    return value
