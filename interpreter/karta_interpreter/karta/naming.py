"""Names of pod sets, as Karmada wants the names of a workload's components: unique, at most 32 characters."""

from collections import Counter
from hashlib import sha256

LONGEST = 32
"""`maxLength` of a component's name in Karmada's ResourceBinding (`pkg/apis/work/v1alpha2`)."""

_DIGEST = 8


def unique_names(parts: list[tuple[str, str]]) -> list[str]:
    """A name for each pair of component name and instance id.

    The id if there is one, else the component's name; both where that alone is not unique. A name depends on
    nothing but the pairs, so it stays the same from request to request.

    >>> unique_names([("head", ""), ("worker", "small"), ("worker", "large")])
    ['head', 'small', 'large']
    >>> unique_names([("leader", "a"), ("worker", "a")])
    ['leader-a', 'worker-a']
    >>> unique_names([("worker", "a-group-with-quite-a-descriptive-name")])
    ['a-group-with-quite-a-de-a3005776']
    """
    names = [sole_name(component, instance) for component, instance in parts]
    if len(set(names)) == len(names):
        return names
    qualified = [f"{component}-{instance}" if instance else component for component, instance in parts]
    counts = Counter(names)
    names = [name if counts[name] == 1 else _shortened(whole) for name, whole in zip(names, qualified, strict=True)]
    counts = Counter(names)
    return [
        name if counts[name] == 1 else _digested(name, "\0".join(pair)) for name, pair in zip(names, parts, strict=True)
    ]


def sole_name(component: str, instance: str) -> str:
    """The name of a pair without another one that could have the same name.

    >>> sole_name("worker", ""), sole_name("worker", "small")
    ('worker', 'small')
    """
    return _shortened(instance or component)


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST else _digested(name, name)


def _digested(name: str, identity: str) -> str:
    digest = sha256(identity.encode()).hexdigest()[:_DIGEST]
    return f"{name[: LONGEST - _DIGEST - 1]}-{digest}"
