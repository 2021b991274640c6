"""Lists of an API server that do not come to their end."""

from collections.abc import AsyncIterator, Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from karta_interpreter.base.errors import ClusterError
from karta_interpreter.definitions.sources import api_server
from karta_interpreter.definitions.sources.api_server import ApiServer
from tests.definitions.sources.scripted_api import KARTAS, ScriptedApi, serving, write_kubeconfig
from tests.support.waiting import Clock

Page = dict[str, Any]


@pytest.fixture
async def listing(tmp_path: Path) -> AsyncIterator[Callable[[Iterator[Page]], Any]]:
    """Return what lists the pages that an API server has."""
    async with serving(ScriptedApi()) as api, ApiServer.of(write_kubeconfig(tmp_path / "config", api.url)) as server:

        async def read(pages: Iterator[Page]) -> int:
            async def answer(_: web.Request) -> web.Response:
                return web.json_response(next(pages))

            api.on("get", KARTAS, answer, times=10_000)
            return len(await server.list(KARTAS))

        yield read


def _pages(number: int = 1, **metadata: Any) -> Iterator[Page]:
    for token in count():
        items = [{"metadata": {"name": f"{token}-{each}"}} for each in range(number)]
        yield {"metadata": {"continue": str(token), **metadata}, "items": items}


def _empty_then(number: int, last: int) -> Iterator[Page]:
    for token in range(number):
        yield {"metadata": {"continue": f"empty-{token}"}, "items": []}
    yield {"metadata": {}, "items": [{"metadata": {"name": str(each)}} for each in range(last)]}


@pytest.mark.parametrize(
    "pages",
    [
        pytest.param(_pages, id="objects without end"),
        pytest.param(lambda: _pages(1, **{"continue": "again"}), id="one token"),
        pytest.param(lambda: _pages(0), id="empty parts"),
        pytest.param(lambda: _pages(0, **{"continue": "x"}), id="empty, one token"),
    ],
)
async def test_list_without_end_is_an_error(
    listing: Callable[[Iterator[Page]], Any],
    monkeypatch: pytest.MonkeyPatch,
    pages: Callable[[], Iterator[Page]],
) -> None:
    monkeypatch.setattr(api_server, "_MOST_OBJECTS", 100)
    monkeypatch.setattr(api_server, "_EMPTY", 1)
    with pytest.raises(ClusterError, match="the list does not end") as caught:
        await listing(pages())
    assert caught.value.reason == "Endless"


async def test_list_without_end_is_an_error_after_its_time(
    listing: Callable[[Iterator[Page]], Any], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow() -> Iterator[Page]:
        for page in _pages():
            clock._ahead += 60  # noqa: SLF001 - within the answer to a request
            yield page

    monkeypatch.setattr(api_server, "_SECONDS", 10_000.0)
    with pytest.raises(ClusterError, match="the list does not end"):
        await listing(slow())


async def test_filtered_parts_are_no_end(listing: Callable[[Iterator[Page]], Any]) -> None:
    """Kubernetes lets a server leave out all objects of a part."""
    assert await listing(_empty_then(10, 3)) == 3
