"""The process of a large call that ends in every other way than with an answer, and how many there are at once."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from karta_interpreter.errors import RequestError
from karta_interpreter.karta.transfer import pack, unpack
from karta_interpreter.server import large_child
from karta_interpreter.server.large_calls import LargeCalls
from karta_interpreter.server.server import Server
from karta_interpreter.server.settings import MIB, Settings
from karta_interpreter.sources.catalogue import load_catalogue
from tests.server.client import Answer, Client, post, question
from tests.server.process import KARTAS
from tests.waiting import HANG

LARGE = question("GrainMill", "Retain") + b" " * 3 * MIB
ABOUT: dict[str, Any] = {"uid": "u", "gvk": ["mill.example.org", "v1", "GrainMill"], "namespace": "", "name": "rye"}
ABOUT |= {"operation_name": "Retain", "problem": None}
READS = f"""
import os, signal, struct, sys, time
sys.stdin.buffer.read({len(LARGE)} + {large_child.TO_CHILD.size})
def say(letter, text):
    sys.stdout.buffer.write(struct.pack("{large_child.FROM_CHILD.format}", letter, len(text)) + text)
    sys.stdout.buffer.flush()
"""
KNOWS = f"""{READS}
say({large_child.ABOUT!r}, {json.dumps(ABOUT).encode()!r})
_, length = struct.unpack("{large_child.TO_CHILD.format}", sys.stdin.buffer.read({large_child.TO_CHILD.size}))
sys.stdin.buffer.read(length)
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], object]:
    """A function that says which program runs instead of the one that answers calls."""
    path = tmp_path / "child.py"
    monkeypatch.setattr(large_child, "__file__", str(path))
    return path.write_text


@pytest.mark.parametrize(
    ("source", "code", "said"),
    [
        pytest.param("import os; os.abort()", 413, "more than 1024 MiB of memory", id="no memory while it starts"),
        pytest.param(f"{READS}os.abort()", 413, "more than 1024 MiB of memory", id="no memory"),
        pytest.param(f"{READS}os.kill(os.getpid(), 9)", 503, "stopped from outside", id="killed"),
        pytest.param(f"{READS}time.sleep(999)", 503, "not enough time", id="too slow"),
        pytest.param(f"{READS}raise SystemExit(3)", 500, "internal error", id="a bug"),
        pytest.param(f"{READS}say(b'X', b'secret')", 500, "internal error", id="a bug that says so"),
    ],
)
async def test_a_process_that_ends_before_the_uid_is_known(
    program: Callable[[str], object], source: str, code: int, said: str
) -> None:
    program(source)
    answer = await ask_locally("sleep" in source)
    assert (answer.status, answer.json["kind"]) == (code, "Status")
    assert said in answer.json["message"]


@pytest.mark.parametrize(
    ("source", "code", "said"),
    [
        pytest.param(f"{KNOWS}os.abort()", 422, "more than 1024 MiB of memory", id="no memory"),
        pytest.param(
            f"{KNOWS}os._exit({large_child.NO_MEMORY})", 422, "more than 1024 MiB of memory", id="no memory, told"
        ),
        pytest.param(f"{KNOWS}os.kill(os.getpid(), 9)", 503, "stopped from outside", id="killed"),
        pytest.param(f"{KNOWS}time.sleep(999)", 504, "Retain took longer than 2.5 s", id="too slow"),
        pytest.param(f"{KNOWS}raise SystemExit(3)", 500, "internal error", id="a bug"),
        pytest.param(f"{KNOWS}say(b'X', b'secret')", 500, "internal error", id="a bug that says so"),
    ],
)
async def test_a_process_that_ends_before_it_answers(
    program: Callable[[str], object], source: str, code: int, said: str
) -> None:
    program(source)
    answer = await ask_locally("sleep" in source)
    assert (answer.status, answer.response["uid"]) == (200, "u")
    assert answer.response["status"]["code"] == code
    assert said in answer.response["status"]["message"]


async def ask_locally(in_vain: bool) -> Answer:
    """Ask a server in this process, into which a test can reach, and be patient if there is something to wait for."""
    path = "/interpret?timeout=3s" if in_vain else f"/interpret?timeout={HANG:.0f}s"
    settings = Settings(port=0, folders=(KARTAS,), catalogue=False, plain_http=True, call_limit=HANG)
    async with Server(settings) as server:
        client = await Client.connect(server.started.port, None)
        answer = await client.ask(post(LARGE, path))
        await client.close()
    return answer


async def test_two_large_calls_run_at_once_and_a_third_waits(program: Callable[[str], object]) -> None:
    program(f"{KNOWS}time.sleep(999)")
    calls = LargeCalls()
    async with calls.call(LARGE, HANG) as (one, _):
        async with calls.call(LARGE, HANG) as (other, _):
            assert one.pid != other.pid
            with pytest.raises(RequestError, match="2 other large calls") as caught:
                async with calls.call(LARGE, 0.2):
                    pass
            assert caught.value.status == 503
            waiting = asyncio.create_task(uid_of(calls))
            await asyncio.sleep(0.1)
            assert not waiting.done()
        assert await waiting == "u"
    calls.close()


async def uid_of(calls: LargeCalls) -> str:
    async with calls.call(LARGE, HANG) as (_, request):
        return request.uid


def test_a_process_can_make_every_definition_again() -> None:
    for entry in load_catalogue().entries:
        definition = entry.definition
        made = unpack(json.loads(json.dumps(pack(definition))))
        # The scripts of an annotation are among all others.
        annotations = replace(made.annotations, lua=definition.annotations.lua)
        there = replace(made, findings=definition.findings, source=definition.source, annotations=annotations)
        assert there == definition
