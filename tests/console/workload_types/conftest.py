from collections.abc import Iterator

import pytest

from tests.console.workload_types.types_server import TypesServer, running


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TypesServer]:
    """A server for all tests that use kinds of their own."""
    with running(tmp_path_factory.mktemp("shared")) as process:
        yield process
