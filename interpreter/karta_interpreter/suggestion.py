"""What was probably meant by a name that does not exist."""

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

_ALIKE = 0.7
_MOST = 100
"""Names that are looked at: each of thousands of findings about thousands of names has a suggestion of its own."""


def closest(name: str, known: Iterable[str]) -> str:
    """The known name that is most like the given one, "" when none of the first hundred is.

    >>> closest("replicaPath", ["replicasPath", "minReplicasPath"])
    'replicasPath'
    >>> closest("colour", ["name", "kind"])
    ''
    """
    by_lower = {other.lower(): other for other in islice(known, _MOST)}
    matches = get_close_matches(name.lower(), by_lower, n=1, cutoff=_ALIKE)
    return by_lower[matches[0]] if matches else ""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint for a name that does not exist.

    >>> did_you_mean("wroker", ["head", "worker"])
    'did you mean worker?'
    >>> did_you_mean("driver", ["head", "worker"])
    'there are: head, worker'
    """
    first = list(islice(known, _MOST + 1))
    meant = closest(name, first)
    if meant:
        return f"did you mean {meant}?"
    more = ", …" if len(first) > _MOST else ""
    return f"there are: {', '.join(first[:_MOST])}{more}"
