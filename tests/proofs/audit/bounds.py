"""What each attack is held to, by bounds.yaml."""

from pathlib import Path
from typing import Final

import yaml

from tests.proofs.audit.found import Bound

BOUNDS: Final[dict[str, dict[str, Bound]]] = {
    attack: {figure: Bound(figure, *bound) for figure, bound in bounds.items()}
    for attack, bounds in yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")).items()
}
EVERYWHERE: Final = BOUNDS.pop("everywhere")
AFTER: Final = EVERYWHERE["memory after"].most
TURN: Final = Bound("turn", 0.1, "no turn of the event loop takes more processor time, whatever the machine does")


def bounds_of(attack: str) -> tuple[Bound, ...]:
    """Return the bounds of an attack: its own, and those of every attack for other figures.

    >>> {bound.figure: bound.most for bound in bounds_of("overload")}["health lost"]
    0
    """
    return tuple((EVERYWHERE | BOUNDS.get(attack, {})).values())
