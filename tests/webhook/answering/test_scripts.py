"""Calls that scripts answer: in other processes, for which no other call waits."""

import asyncio
import itertools
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from karta_interpreter.languages.lua.machine.worker import SECONDS, Job
from karta_interpreter.webhook.answering.lanes import ScriptLane
from tests.support.waiting import HANG
from tests.webhook.process.client import PATIENT, Answer, Client, post, question
from tests.webhook.process.process import KARTAS, Process, running

OVERRIDES = KARTAS.with_name("overrides")
MIB = 2**20


@pytest.fixture(scope="module")
def server() -> Iterator[Process]:
    with running(overrides=[str(OVERRIDES)]) as process:
        yield process


MANY = 20
"""Answers to others before the first of four hostile scripts ends: a server that made others wait would give none."""


async def ask(server: Process, kind: str, operation: str, path: str = PATIENT) -> Answer:
    client = await server.connect()
    answer = await client.ask(post(question(kind, operation), path))
    await client.close()
    return answer


async def test_script_replaces_karta_and_builds_on_it(client: Client) -> None:
    answer = await client.ask(post(question()))
    assert answer.response["replicas"] == 4, "three stones, and one more"


async def test_kind_without_karta_is_answered_by_script(client: Client) -> None:
    answer = await client.ask(post(question("Wheel", "InterpretStatus")))
    assert answer.response["rawStatus"] == {"turns": 7}


@pytest.mark.parametrize(
    ("kind", "operation", "code", "said"),
    [
        pytest.param(
            "GrainMill",
            "InterpretHealth",
            422,
            "mill.example.org/v1, Kind=GrainMill: script miller for InterpretHealth failed in line 2 "
            '(`return observedObj.status.conditions[1].status == "True"`): ',
            id="a script that fails says where",
        ),
        pytest.param(
            "Wheel",
            "InterpretReplica",
            404,
            "no Karta and no script answers InterpretReplica for mill.example.org/v1, Kind=Wheel; scripts answer "
            "InterpretHealth, InterpretStatus",
            id="an operation without a script, of a kind without a Karta",
        ),
    ],
)
async def test_failures(client: Client, kind: str, operation: str, code: int, said: str) -> None:
    status = (await client.ask(post(question(kind, operation)))).response["status"]
    assert status["code"] == code
    assert status["message"].startswith(said)


BYSTANDERS = (
    ("GrainMill", "InterpretReplica"),  # a script
    ("GrainMill", "InterpretDependency"),  # a Karta
    ("Wheel", "InterpretStatus"),  # a script of another kind, where that is not the hostile one
)


@pytest.mark.parametrize("hostile", ["Wheel", "Hoard"])
async def test_hostile_script_delays_no_other_call(server: Process, hostile: str) -> None:
    client, *attackers = [await server.connect() for _ in range(5)]
    others = itertools.cycle(post(question(*bystander)) for bystander in BYSTANDERS if bystander[0] != hostile)
    await client.ask(next(others))  # starts a process
    answered, seconds = 0, 0.5
    while answered < MANY and seconds < HANG:
        for attacker in attackers:
            await attacker.send(post(question(hostile, "InterpretHealth"), f"/interpret?timeout={seconds}s"))
        attacks = [asyncio.create_task(attacker.receive()) for attacker in attackers]
        await client.ask(next(others))  # when it is answered, the server has read every attack
        while not any(attack.done() for attack in attacks):
            answer = await client.ask(next(others))
            assert answer.response["successful"], answer.body
            answered += not any(attack.done() for attack in attacks)
        for attack in attacks:
            assert (await attack).response["status"]["code"] == 504
        seconds *= 2  # a busy machine gives fewer answers in the same time
    assert answered >= MANY
    for each in (client, *attackers):
        await each.close()


async def test_call_ends_before_karmada_gives_up(server: Process) -> None:
    answer = await ask(server, "Wheel", "InterpretHealth", "/interpret?timeout=700ms")
    assert answer.response["status"]["code"] == 504
    assert "InterpretHealth took longer than 0.35 s" in answer.response["status"]["message"]


async def test_large_call_is_answered_by_same_scripts(server: Process) -> None:
    client = await server.connect()
    body = question() + b" " * 3 * MIB
    assert (await client.ask(post(body))).response["replicas"] == 4
    await client.close()


async def test_large_call_of_hostile_script_ends(server: Process) -> None:
    client = await server.connect()
    body = question("Wheel", "InterpretHealth") + b" " * 3 * MIB
    seconds = 1
    # A busy machine may not get a process started in the time.
    while (answer := await client.ask(post(body, f"/interpret?timeout={seconds}s"))).status == 503 and seconds < HANG:
        seconds *= 2
    assert answer.response["status"]["code"] == 504
    await client.close()


class Waits:
    """A pool and its process, which answers 4. It notes how long a call waits for it, and how long its script runs."""

    @asynccontextmanager
    async def process(self, _: str, seconds: float) -> AsyncIterator[tuple["Waits", float]]:
        self.waits = seconds
        yield self, seconds - 0.5

    async def send(self, _: bytes, __: bytes, seconds: float) -> None:
        self.runs = seconds

    async def receive(self) -> tuple[bytes, bytes]:
        return b"R", b"4"


@pytest.mark.parametrize(("seconds", "runs"), [(SECONDS + 2, SECONDS), (0.75, 0.25)])
async def test_call_waits_for_a_process_as_long_as_it_may_take(seconds: float, runs: float) -> None:
    """Processes of other calls of the script may take longer to start than a script may run."""
    calls = ScriptLane()
    calls._pool = pool = Waits()  # type: ignore[assignment]  # noqa: SLF001
    assert await calls._run(Job([], "mill"), seconds) == 4  # noqa: SLF001
    assert (pool.waits, pool.runs) == (seconds, runs)


async def becomes(server: Process, replicas: int) -> None:
    client = await server.connect()
    await client.ask_until(post(question()), lambda answer: answer.response["replicas"] == replicas)
    await client.close()


NEEDED = """
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: needed}
spec:
  target: {apiVersion: mill.example.org/v1, kind: GrainMill}
  customizations:
    dependencyInterpretation:
      luaScript: |
        function GetDependencies(obj)
          local found = {}
          for i, namespace in ipairs({"bakery", "palace"}) do
            found[i] = {apiVersion = "v1", kind = "Secret", namespace = namespace, name = obj.metadata.name}
          end
          found[3] = {apiVersion = "v1", kind = "Secret", labelSelector = {matchLabels = {crown = "yes"}}}
          return found
        end
"""


async def test_script_names_nothing_of_another_namespace(tmp_path: Path) -> None:
    (tmp_path / "needed.yaml").write_text(NEEDED)
    with running(overrides=[str(tmp_path)]) as server:
        answer = await ask(server, "GrainMill", "InterpretDependency")
    own = {"apiVersion": "v1", "kind": "Secret", "namespace": "bakery", "name": "rye"}
    assert answer.response["dependencies"] == [own]


async def test_edit_is_served_and_broken_edit_is_not(tmp_path: Path) -> None:
    overrides = tmp_path / "overrides"
    shutil.copytree(OVERRIDES, overrides)
    mill = overrides / "mill.yaml"
    with running(overrides=[str(overrides)]) as server:
        assert (await ask(server, "GrainMill", "InterpretReplica")).response["replicas"] == 4
        good = mill.read_text()
        mill.write_text(good.replace("replicas + 1", "replicas + 2"))
        await becomes(server, 5)

        mill.write_text(good.replace("replicas + 1", "replicas +"))
        quarantined = server.logged("definition quarantined")
        assert (quarantined["source"], quarantined["serving_last_good"]) == (str(mill), True)
        (reason,) = quarantined["reasons"]
        line = next(number for number, text in enumerate(mill.read_text().splitlines(), 1) if "replicas +" in text)
        assert reason.startswith(f"{mill}:{line}:"), reason
        assert ": error [lua-syntax] spec.customizations.replicaResource.luaScript: " in reason
        assert (await ask(server, "GrainMill", "InterpretReplica")).response["replicas"] == 5

        mill.unlink()
        await becomes(server, 3)
