import pytest

from karta_interpreter.lua.machine import inside


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give scripts of this process time enough, whatever else happens in it: garbage collection counts, too."""
    monkeypatch.setattr(inside, "SECONDS", 5.0)
