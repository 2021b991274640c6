"""Servers that answer without end, or what none should: each is a line of the diagnosis, within the time for it."""

import asyncio
import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.engine.operations import Operation
from karta_interpreter.webhook.doctor import connection, endpoint
from karta_interpreter.webhook.doctor.connection import DialAddress
from karta_interpreter.webhook.doctor.endpoint import examine_endpoint
from karta_interpreter.webhook.doctor.result import CheckResult, Level
from tests.support.waiting import PAUSE
from tests.webhook.doctor.authority import Authority
from tests.webhook.doctor.servers import HOST, Handle, handling, interpreter, serving

pytestmark = pytest.mark.slow

NAME = "localhost"
AUTHORITY = Authority()
HEAD = b"HTTP/1.1 200 OK\r\n"


def sending(make: Callable[[], Iterator[bytes]], *, slowly: bool = False) -> Handle:
    """Send the pieces as long as the client takes them, then be silent."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        for piece in make():
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(PAUSE if slowly else 0)
        await reader.read()

    return handle


def after(head: bytes, *endless: bytes) -> Callable[[], Iterator[bytes]]:
    return lambda: itertools.chain([head], itertools.cycle(endless))


def body(content: bytes, head: bytes = HEAD) -> Callable[[], Iterator[bytes]]:
    return lambda: iter([head + b"Content-Length: %d\r\n\r\n" % len(content) + content])


def at(port: int) -> DialAddress:
    return DialAddress(HOST, port, NAME, "/interpret", "", "")


@pytest.fixture
def _brief(patient: None, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001 - it changes what `patient` has set
    """There is nothing to wait for."""
    monkeypatch.setattr(connection, "SECONDS", 1.0)


async def last(handle: Handle, folder: Path) -> CheckResult:
    async with handling(handle, AUTHORITY.context(folder, NAME)) as port:
        *_, result = await examine_endpoint(at(port), AUTHORITY.bundle, 3, {})
    return result


@pytest.mark.usefixtures("_brief")
@pytest.mark.parametrize(
    ("handle", "found"),
    [
        pytest.param(sending(after(HEAD + b"X: ", b"x"), slowly=True), "no answer after", id="head, byte by byte"),
        pytest.param(sending(after(HEAD + b"Content-Length: 1000000\r\n\r\n", b"x"), slowly=True), "no answer after",
            id="body, byte by byte"),
        pytest.param(sending(after(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), slowly=True), "no answer after",
            id="always to go on"),
    ],
)  # fmt: skip
async def test_endless_answer_ends_with_the_time_for_it(handle: Handle, found: str, tmp_path: Path) -> None:
    result = await last(handle, tmp_path)

    assert (result.level, result.check) == (Level.PROBLEM, "call")
    assert found in result.found


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize(
    ("handle", "found"),
    [
        pytest.param(sending(after(HEAD, b"X: y\r\n" * 1000)), "not HTTP", id="head of many lines"),
        pytest.param(sending(after(HEAD + b"X: ", b"y" * 2**16)), "not HTTP: LineTooLong", id="line without end"),
        pytest.param(sending(after(HEAD + b"\r\n", b"y" * 2**16)), "longer than any of ours", id="body without end"),
        pytest.param(sending(body(b"", b"HTTP/1.1 307 No\r\nLocation: /readyz\r\n")), "HTTP 307",
            id="redirect to itself"),
        pytest.param(sending(body(b'{"message": "%b"}' % (b"x" * 10**6), b"HTTP/1.1 500 No\r\n")), "xxx",
            id="long message"),
        pytest.param(sending(body(b"[" * 10**6)), "not a JSON object", id="deep JSON"),
        pytest.param(sending(body(b'{"kind": %b1%b}' % (b"[" * 1000, b"]" * 1000))), "a value without a kind",
            id="deep JSON as kind"),
    ],
)  # fmt: skip
async def test_answer_of_no_interpreter_is_named_in_a_line(handle: Handle, found: str, tmp_path: Path) -> None:
    result = await last(handle, tmp_path)

    assert result.level is Level.PROBLEM
    assert found in result.found
    assert len(result.found) <= 1000


@pytest.mark.usefixtures("patient")
async def test_content_type_does_not_matter_to_karmada(tmp_path: Path) -> None:
    answer = interpreter()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"Content-Length: (\d+)", head)
        _, reply = answer(head.split(b" ")[1], await reader.readexactly(int(length[1])) if length else b"")
        writer.write(HEAD + b"Content-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(reply) + reply)
        await writer.drain()

    result = await last(handle, tmp_path)

    assert (result.level, result.check) == (Level.OK, "call")


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize(
    ("context", "check", "found"),
    [
        pytest.param(lambda folder: AUTHORITY.with_long_chain(folder, 2500), "tls", "excessive", id="chain of 1 MB"),
        pytest.param(AUTHORITY.malformed, "certificate", "cannot be parsed", id="certificate with malformed names"),
    ],
)
async def test_certificates_of_no_use(
    context: Callable[[Path], object], check: str, found: str, tmp_path: Path
) -> None:
    async with serving(interpreter(), context(tmp_path)) as port:  # type: ignore[arg-type]
        *_, result = await examine_endpoint(at(port), AUTHORITY.bundle, 3, {})

    assert (result.level, result.check, found in result.found) == (Level.PROBLEM, check, True), result.found


@pytest.mark.usefixtures("_brief")
@pytest.mark.parametrize(
    "make",
    [
        pytest.param(after(b"", b"\x00\xff" * 2**15), id="noise"),
        pytest.param(after(b"\x16\x03\x03\x40\x00\x02\x00\xff\xff", b"\x00"), id="record without end"),
    ],
)
async def test_malformed_tls_is_named(make: Callable[[], Iterator[bytes]]) -> None:
    async with handling(sending(make)) as port:
        *_, result = await examine_endpoint(at(port), AUTHORITY.bundle, 3, {})

    assert (result.level, result.check) == (Level.PROBLEM, "tls")


@pytest.mark.usefixtures("patient")
async def test_slow_server_is_asked_for_a_part_of_the_kinds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    minutes = itertools.count(0.0, 25.0)
    monkeypatch.setattr(endpoint, "monotonic", lambda: next(minutes))
    kinds = {GVK("a.example.org", "v1", f"Kind{number}"): (Operation.RETAIN,) for number in range(100)}
    known = dict.fromkeys((gvk.kind for gvk in kinds), 200)
    async with serving(interpreter(known), AUTHORITY.context(tmp_path, NAME)) as port:
        *_, left, defined = await examine_endpoint(at(port), AUTHORITY.bundle, 3, kinds)

    assert (left.level, left.found) == (Level.WARNING, "98 kinds are left out: the other 2 have taken 60 s")
    assert (defined.level, defined.found) == (
        Level.OK,
        "the server has a definition of each of the 2 kinds that are registered",
    )
