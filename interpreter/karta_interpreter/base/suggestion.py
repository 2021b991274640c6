"""Suggestions for a name that does not exist."""

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from itertools import islice

_ALIKE = 0.7
_COMPARED = 20
_MOST_KNOWN = 500
_LONGEST_LIST = 500


def closest(name: str, known: Iterable[str]) -> str:
    """The known name that is most like the given one, "" when none is.

    >>> closest("replicaPath", ["replicasPath", "minReplicasPath"])
    'replicasPath'
    >>> closest("colour", ["name", "kind"])
    ''
    """
    # To difflib `kind` and `Kind` differ in a letter, as two words do; to a person they do not.
    by_lower = {other.lower(): other for other in known}
    matches = get_close_matches(name.lower(), by_lower, n=1, cutoff=_ALIKE)
    return by_lower[matches[0]] if matches else ""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint for a name that does not exist.

    >>> did_you_mean("wroker", ["head", "worker"])
    'did you mean worker?'
    >>> did_you_mean("driver", ["head", "worker"]), did_you_mean("driver", [])
    ('there are: head, worker', 'there are none')
    """
    known = list(known)
    meant = closest(name, known)
    return f"did you mean {meant}?" if meant else _listed(known)


def hints(known: Iterable[str]) -> Callable[[str], str]:
    """Return `did_you_mean` for many names in a text that may be hostile, in less than quadratic time.

    Only the first 20 names are compared, with the first 500 that are known; a long list is cut off.

    >>> hint = hints(["head", "worker"])
    >>> hint("wroker"), hint("driver")
    ('did you mean worker?', 'there are: head, worker')
    """
    some = list(islice(known, _MOST_KNOWN))
    listed = _listed(some)
    listed = listed if len(listed) <= _LONGEST_LIST else f"{listed[:_LONGEST_LIST]}…"
    left = iter(range(_COMPARED))  # shared by all calls of the hint, so that the count is for the whole text

    def hint(name: str) -> str:
        meant = closest(name, some) if next(left, None) is not None else ""
        return f"did you mean {meant}?" if meant else listed

    return hint


def _listed(known: list[str]) -> str:
    return f"there are: {', '.join(known)}" if known else "there are none"
