"""The time that is left."""

import threading

from karta_interpreter.base.sandbox.deadline import deadline, remaining


def test_without_a_deadline_there_is_always_as_much() -> None:
    assert remaining(7) == 7


def test_deadline_only_comes_closer() -> None:
    with deadline(0.3):
        assert 0 < remaining(1) <= 0.3
        with deadline(10):
            assert remaining(1) <= 0.3
        with deadline(0.1):
            assert remaining(1) <= 0.1
        assert remaining(0.01) == 0.01
    assert remaining(1) == 1


def test_behind_it_nothing_is_left() -> None:
    with deadline(0):
        assert remaining(1) == 0


def test_another_thread_has_another_one() -> None:
    found: list[float] = []
    with deadline(0):
        thread = threading.Thread(target=lambda: found.append(remaining(1)))
        thread.start()
        thread.join()
    assert found == [1]
