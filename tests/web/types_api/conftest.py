from collections.abc import Iterator

import pytest

from karta_interpreter.web.types_api import api
from karta_interpreter.web.types_api.judge import Judge
from tests.support.waiting import HANG
from tests.web.types_api.types_server import TypesServer, running


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TypesServer]:
    """A server for all tests that use kinds of their own."""
    with running(tmp_path_factory.mktemp("shared")) as process:
        yield process


@pytest.fixture(scope="session", autouse=True)
def _judge() -> Iterator[None]:
    """One judge for all servers in this process: its own processes take longer to start than most tests run."""
    judge = Judge(HANG)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judge.pool, "close", lambda: None)  # a server closes all pools of its process
        patch.setattr(api, "Judge", lambda _: judge)
        yield
    judge.close()
