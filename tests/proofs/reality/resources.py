"""What a pod requests, as kube-scheduler reserves it; amounts are exact, and independent of the product's own code."""

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TypeAlias

from tests.proofs.rig.api import Object

Amounts: TypeAlias = Mapping[str, Fraction]

_SYNTAX = re.compile(r"([+-]?[0-9.]+)(?:[eE]([+-]?[0-9]+)|([numkKMGTPE]i?)?)")
_UNITS = (
    {"n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000), "": Fraction(1)}
    | {name: Fraction(10 ** (3 * power)) for power, name in enumerate("kMGTPE", 1)}
    | {f"{name}i": Fraction(2 ** (10 * power)) for power, name in enumerate("KMGTPE", 1)}
)


def quantity(text: object) -> Fraction:
    """Return the amount that Kubernetes reads in a text or number."""
    found = _SYNTAX.fullmatch(str(text))
    if found is None:
        raise ValueError(f"{text!r} is not a quantity")
    number, exponent, unit = found.groups()
    return Fraction(number) * (Fraction(10) ** int(exponent) if exponent else _UNITS[unit or ""])


def quantities(resources: Mapping[str, object] | None) -> Amounts:
    return {name: quantity(amount) for name, amount in (resources or {}).items()}


def pod_requests(spec: Object) -> Amounts:
    """Return what kube-scheduler reserves for a pod.

    Sidecars run next to the containers and next to later init containers; requests of the pod itself take precedence.
    """
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in spec.get("initContainers") or ():
        alone = _requests(container)
        if container.get("restartPolicy") == "Always":
            sidecars = plus(sidecars, alone)
            peak = most(peak, sidecars)
        else:
            peak = most(peak, plus(sidecars, alone))
    together = plus(sidecars, *(_requests(container) for container in spec["containers"]))
    own = _requests(spec)
    return plus({**most(together, peak), **own}, quantities(spec.get("overhead")))


def plus(*amounts: Amounts) -> Amounts:
    return {name: sum((one.get(name, Fraction()) for one in amounts), Fraction()) for name in _names(amounts)}


def most(*amounts: Amounts) -> Amounts:
    return {name: max(one.get(name, Fraction()) for one in amounts) for name in _names(amounts)}


def shown(amounts: Amounts) -> str:
    """Return amounts as text, without those that are zero; equal amounts are equal text."""
    present = {name: amount for name, amount in sorted(amounts.items()) if amount}
    return ", ".join(f"{name} {amount}" for name, amount in present.items()) or "nothing"


def _requests(container: Object) -> Amounts:
    resources = container.get("resources") or {}
    # A limit is the request where there is none.
    return quantities({**(resources.get("limits") or {}), **(resources.get("requests") or {})})


def _names(amounts: Iterable[Amounts]) -> list[str]:
    return sorted({name for one in amounts for name in one})
