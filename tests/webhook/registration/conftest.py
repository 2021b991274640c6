from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.definitions.sources.informer import Pace
from tests.webhook.logs import capture_logs
from tests.webhook.registration.control_plane import running
from tests.webhook.registration.definitions import TOY
from tests.webhook.registration.rig import Rig


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    folder = tmp_path / "kartas"
    folder.mkdir()
    async with running() as plane, ApiServer.of(plane.kubeconfig(tmp_path)) as api:
        with capture_logs() as lines:
            rig = Rig(plane, api, folder, lines)
            rig.define(TOY)
            yield rig


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting for more changes, or after a failure, takes a moment only."""
    monkeypatch.setattr("karta_interpreter.webhook.registration.registrar._DEBOUNCE", 0.05)
    monkeypatch.setattr("karta_interpreter.webhook.registration.registrar._PACE", Pace(first=0.1, longest=0.2))
