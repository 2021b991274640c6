"""Small reproductions: a question without the parts that do not matter."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from karta_interpreter.base.k8s.values import JSON, Path
from tests.proofs.conformance.question import Question

_PARTS = ("object", "observed", "items")


def shrink(question: Question, matters: Callable[[Question], bool]) -> Question:
    """Leave out whatever can go while the question still ``matters``."""
    for part in _PARTS:
        smaller = True
        while smaller:
            smaller = False
            for candidate in _smaller(getattr(question, part)):
                attempt = replace(question, **{part: candidate})
                if matters(attempt):
                    question, smaller = attempt, True
                    break
    return question


def _smaller(value: JSON) -> Iterator[JSON]:
    """Give copies of a value with one part left out, the largest parts first."""
    for path in sorted(_paths(value, ()), key=len):
        yield _without(value, path)


def _paths(value: JSON, path: Path) -> Iterator[Path]:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()
    for key, item in parts:
        yield (*path, key)
        yield from _paths(item, (*path, key))


def _without(value: JSON, path: Path) -> JSON:
    first, *rest = path
    if isinstance(value, dict):
        return {
            key: _without(item, tuple(rest)) if key == first else item
            for key, item in value.items()
            if rest or key != first
        }
    kept = [
        _without(item, tuple(rest)) if at == first else item for at, item in enumerate(value) if rest or at != first
    ]
    return type(value)(kept)
