"""Which controllers share a cluster."""

from collections.abc import Sequence

import pytest

from tests.proofs.reality.controller import Controller
from tests.proofs.reality.run import rounds
from tests.proofs.rig.cluster import Cluster
from tests.support.rows import rows


def _nothing(_: Cluster) -> None:
    """Start nothing."""


_A = Controller("a", (), _nothing, ports=(1,))
_B = Controller("b", (), _nothing, ports=(2,))
_A_TOO = Controller("a-too", (), _nothing, ports=(1, 3))
_QUEUE = Controller("queue", (), _nothing, needs=("a",), alone=True)


@rows(
    ("controllers", "expected"),
    [
        pytest.param([_A, _B], [[_A, _B]], id="different ports"),
        pytest.param([_A, _A_TOO, _B], [[_A, _B], [_A_TOO]], id="one port wanted twice"),
        pytest.param([_A, _QUEUE, _B], [[_A, _B], [_QUEUE]], id="one alone, whose cluster others do not join"),
        pytest.param([_QUEUE, _A], [[_QUEUE], [_A]], id="one alone and first"),
    ],
)
def test_rounds(controllers: Sequence[Controller], expected: list[list[Controller]]) -> None:
    assert rounds(controllers) == expected
