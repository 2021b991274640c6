"""What was probably meant by a name that does not exist."""

from collections.abc import Iterable
from difflib import get_close_matches

_ALIKE = 0.7


def closest(name: str, known: Iterable[str]) -> str:
    """The known name that is most like the given one, "" when none is.

    >>> closest("replicaPath", ["replicasPath", "minReplicasPath"])
    'replicasPath'
    >>> closest("colour", ["name", "kind"])
    ''
    """
    by_lower = {other.lower(): other for other in known}
    matches = get_close_matches(name.lower(), by_lower, n=1, cutoff=_ALIKE)
    return by_lower[matches[0]] if matches else ""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint for a name that does not exist.

    >>> did_you_mean("wroker", ["head", "worker"])
    'did you mean worker?'
    >>> did_you_mean("driver", ["head", "worker"])
    'there are: head, worker'
    """
    known = list(known)
    meant = closest(name, known)
    return f"did you mean {meant}?" if meant else f"there are: {', '.join(known)}"
