"""What is rejected when there is too much to do, and what is answered all the same."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest

from karta_interpreter.base.errors import RequestError
from karta_interpreter.webhook.answering.child_lane import ChildLane
from karta_interpreter.webhook.answering.load import TURN_SECONDS, Load
from karta_interpreter.webhook.answering.pending_call import PendingCall
from karta_interpreter.webhook.process import server as server_module
from karta_interpreter.webhook.process.server import Server
from karta_interpreter.webhook.settings import Settings
from karta_interpreter.webhook.wire import encode_results
from tests.support.waiting import HANG
from tests.webhook.process.client import Answer, Client, as_karmada, as_others, get, post, question
from tests.webhook.process.process import KARTAS
from tests.webhook.process.test_application import is_status
from tests.webhook.process.wire import Bench

# Its expression is for a child process.
WAITING = post(question("Treadmill", "InterpretHealth"))
REVIEW = json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "1"}}).encode()


class Held:
    """Calls in child processes, which wait until they are let go."""

    def __init__(self) -> None:
        self.begun = asyncio.Semaphore(0)
        self.let_go = asyncio.Event()

    async def answer(self, call: PendingCall, _: float) -> bytes:
        self.begun.release()
        await self.let_go.wait()
        return encode_results(call.request, {"healthy": True})


@pytest.fixture
async def held(monkeypatch: pytest.MonkeyPatch) -> Held:
    held = Held()
    monkeypatch.setattr(ChildLane, "answer", lambda _, *asked: held.answer(*asked))
    return held


@asynccontextmanager
async def serving(**others: Any) -> AsyncIterator[int]:
    common: dict[str, Any] = {"port": 0, "plain_http": True, "folders": (KARTAS,), "catalogue": False}
    async with Server(Settings(**common | {"webhook_timeout": HANG} | others)) as server:
        yield server.started.port


def is_rejected(answer: Answer) -> bool:
    return is_status(answer, 503) and answer.headers["retry-after"] == "1"


async def begins(held: Held) -> None:
    await held.begun.acquire()


@pytest.mark.parametrize("spell", [as_karmada, as_others])
async def test_beyond_the_cap_calls_are_rejected_at_once(
    held: Held, spell: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "Load", partial(Load, 2))
    async with serving() as port:
        clients = [await Client.connect(port, None, spell) for _ in range(3)]
        await clients[2].ask(post(question()))  # the first one waits for a thread to compile
        for client in clients[:2]:
            await client.send(WAITING)
            await begins(held)
        assert is_rejected(await clients[2].ask(WAITING))
        assert is_rejected(await clients[2].ask(post(REVIEW, "/admission/validate")))
        assert (await clients[2].ask(post(question()))).response["replicas"] == 3, "it waits for nothing"
        assert (await clients[2].ask(get("/healthz"))).status == 200
        metrics = await clients[2].ask(get("/metrics"))
        assert b'karta_interpreter_http_errors_total{status="503"} 2.0' in metrics.body

        held.let_go.set()
        for client in clients[:2]:
            assert (await client.receive()).response["healthy"]
        assert (await clients[2].ask(WAITING)).response["healthy"], "there is room again"
        for client in clients:
            await client.close()


class Spent(Load):
    """Turns of the event loop that have been spent, so many of them."""

    def __init__(self, turns: int) -> None:
        super().__init__()
        self.turns = turns

    @property
    def is_spent(self) -> bool:
        self.turns -= 1
        return self.turns >= 0


class Recorder(Load):
    def __init__(self) -> None:
        super().__init__()
        self.answers: list[float] = []

    def spend(self, seconds: float) -> None:
        self.answers.append(seconds)
        super().spend(seconds)


@pytest.mark.parametrize("spell", [as_karmada, as_others])
async def test_call_waits_for_unspent_turn(spell: Callable[[bytes], bytes]) -> None:
    load = Spent(turns=5)
    found = await Bench(load=load).feed([spell(post(question()))])
    assert b" 200 OK" in found.written
    assert load.turns < 0, "all of them"


async def test_call_out_of_time_is_refused() -> None:
    with pytest.raises(RequestError, match="too many calls") as raised:
        await Spent(turns=1000).turn(0.0)
    assert raised.value.status == 503


@pytest.mark.parametrize("spell", [as_karmada, as_others])
async def test_answer_of_event_loop_counts_in_its_turn(spell: Callable[[bytes], bytes]) -> None:
    load = Recorder()
    found = await Bench(load=load).feed([spell(post(question()))])
    assert b" 200 OK" in found.written
    assert len(load.answers) == 1
    assert load.answers[0] > 0


async def test_turn_of_event_loop_begins_unspent() -> None:
    load = Load()
    load.spend(TURN_SECONDS)
    assert not load.is_spent
    load.spend(0.001)
    assert load.is_spent
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not load.is_spent
