import threading

import pytest

from karta_interpreter.worker.shares import Shares


def test_an_owner_has_so_many_shares_and_no_more() -> None:
    shares = Shares(2)
    with shares.share("a", 0), shares.share("a", 0):
        with pytest.raises(TimeoutError), shares.share("a", 0.01):
            pass
        with shares.share("b", 0):  # which does not concern another one
            pass
    with shares.share("a", 0), shares.share("a", 0):
        pass


def test_a_share_comes_back_after_an_error() -> None:
    shares = Shares(1)
    with pytest.raises(ZeroDivisionError), shares.share("a", 0):
        raise ZeroDivisionError
    with shares.share("a", 0):
        pass


def test_one_who_waits_gets_the_next_share() -> None:
    shares, got = Shares(1), threading.Event()

    def wait() -> None:
        with shares.share("a", 60):
            got.set()

    waiting = threading.Thread(target=wait)
    with shares.share("a", 0):
        waiting.start()
        assert not got.wait(0.05)
    assert got.wait(60)
    waiting.join()
