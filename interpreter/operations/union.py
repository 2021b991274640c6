"""What a template says, and what only the member has beside it."""

from interpreter.k8s.values import JSON


def united(ours: JSON, theirs: JSON) -> JSON:
    """Return the template's value with what only the member's has: keys of an object, elements of a list.

    The member's elements come first, so that a list to which the member has added is the same as before.

    >>> united({"disk": "nvme", "pool": None}, {"disk": "hdd", "pool": "a100"})
    {'disk': 'nvme', 'pool': 'a100'}
    >>> united([{"key": "gpu"}], [{"key": "spot"}, {"key": "gpu"}])
    [{'key': 'spot'}, {'key': 'gpu'}]
    """
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return {**theirs, **{key: value for key, value in ours.items() if value is not None}}
    if isinstance(ours, list) and isinstance(theirs, list):
        return [*theirs, *(element for element in ours if element not in theirs)]
    return theirs if ours is None else ours
