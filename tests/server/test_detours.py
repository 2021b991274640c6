import pytest

from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.server.detours import Detours

MILL = GVK("mill.example.org", "v1", "GrainMill")


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_slow_operation_is_remembered_for_half_a_minute() -> None:
    clock = Clock()
    detours = Detours(clock)
    assert (MILL, "Retain") not in detours
    assert detours.add(MILL, "Retain")
    clock.now += 29
    assert (MILL, "Retain") in detours
    assert not detours.add(MILL, "Retain"), "nothing new"
    clock.now += 29
    assert (MILL, "Retain") in detours, "and it has begun anew"
    clock.now += 1
    assert (MILL, "Retain") not in detours
    assert detours.add(MILL, "Retain"), "new again"


@pytest.mark.parametrize(
    "other",
    [
        pytest.param((MILL, "InterpretHealth"), id="another operation"),
        pytest.param((GVK("mill.example.org", "v2", "GrainMill"), "Retain"), id="another version"),
    ],
)
def test_others_are_not_meant(other: tuple[GVK, str]) -> None:
    detours = Detours()
    detours.add(MILL, "Retain")
    assert other not in detours
