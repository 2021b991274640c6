"""The private names of aiohttp that connections use: pyproject.toml bounds its version because of them."""

import ast
import asyncio
import inspect
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from aiohttp.http_parser import HttpRequestParser

from karta_interpreter.webhook.http import connection, fast_lane
from karta_interpreter.webhook.http.connection import _KEEP_ALIVE as KEEP_ALIVE
from karta_interpreter.webhook.http.fast_lane import FastLane
from tests.webhook.process.client import as_others, post, question
from tests.webhook.process.wire import Bench

CALL = as_others(post(question()))


def is_waiting(waiter: Any) -> bool:
    return isinstance(waiter, asyncio.Future) and not waiter.done()


def is_kept_alive(until: float) -> bool:
    return 0 < until - asyncio.get_running_loop().time() <= KEEP_ALIVE


IDLE: dict[str, Callable[[Any], bool]] = {
    "_current_request": lambda request: request is None,
    "_keepalive_timeout": lambda seconds: bool(seconds == KEEP_ALIVE),
    "_loop": lambda loop: loop is asyncio.get_running_loop(),
    "_next_keepalive_close_time": is_kept_alive,
    "_parser": lambda parser: isinstance(parser, HttpRequestParser),
    "_paused": lambda is_paused: is_paused is False,
    "_request_count": lambda count: bool(count == 1),
    "_waiter": is_waiting,
}
"""What each is after the first request."""

BUSY: dict[str, Callable[[Any], bool]] = IDLE | {
    "_current_request": lambda request: not request.content.is_eof(),
    "_request_count": lambda count: bool(count == 2),
    "_waiter": lambda waiter: not is_waiting(waiter),
}
"""What each is while the body of the second one has not come."""


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    made = Bench()
    await made.feed([CALL])
    yield made
    made.hang_up()


def test_used_internals_of_aiohttp_are_listed() -> None:
    trees = [ast.parse(inspect.getsource(module)) for module in (connection, fast_lane)]
    nodes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    used = {node.attr for node in nodes if isinstance(node.value, ast.Name) and node.value.id == "self"}
    ours = {name for each in FastLane.__mro__ if "karta" in each.__module__ for name in vars(each)}
    assert {name for name in used - ours if name.startswith("_")} == IDLE.keys()


@pytest.mark.parametrize("name", IDLE)
async def test_attributes_of_idle_connection_are_as_expected(bench: Bench, name: str) -> None:
    assert IDLE[name](getattr(bench.connection, name))


@pytest.mark.parametrize("name", BUSY)
async def test_attributes_of_busy_connection_are_as_expected(bench: Bench, name: str) -> None:
    await bench.feed([CALL[:-10]])
    assert BUSY[name](getattr(bench.connection, name))


async def test_connection_that_cannot_write_is_paused(bench: Bench) -> None:
    bench.connection.pause_writing()
    assert bench.connection._paused  # noqa: SLF001 - as `Connection.is_busy` reads it
    bench.connection.resume_writing()
    assert not bench.connection._paused  # noqa: SLF001 - as `Connection.is_busy` reads it
