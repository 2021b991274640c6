"""The server with the definitions that come with this package, asked as Karmada asks."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from karta_interpreter.engine.operations import Operation
from karta_interpreter.webhook.http import listener
from karta_interpreter.webhook.process.server import Server
from karta_interpreter.webhook.settings import Settings
from tests.support.waiting import HANG
from tests.webhook.logs import capture_logs
from tests.webhook.process.client import Client, get, post, question, trusting
from tests.webhook.process.process import KARTAS
from tests.webhook.wire.karmada import receive


@pytest.mark.catalogue
@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        pytest.param(Operation.INTERPRET_STATUS, {}, marks=pytest.mark.slow),
        (Operation.INTERPRET_HEALTH, False),
        pytest.param(Operation.INTERPRET_DEPENDENCY, [], marks=pytest.mark.slow),
        pytest.param(Operation.AGGREGATE_STATUS, "unchanged", marks=pytest.mark.slow),
    ],
)
async def test_catalogue_kinds_are_answered_for_empty_objects(operation: Operation, expected: Any) -> None:
    async with Server(Settings(port=0, webhook_timeout=int(HANG))) as server:
        started = server.started
        assert started.certificate is not None
        client = await Client.connect(started.port, trusting(started.certificate.authority))
        answered = [gvk for gvk, entry in started.snapshot.entries.items() if entry.definition.answers(operation)]
        for gvk in answered:
            obj = {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": {"name": "bare"}}
            kind = {"group": gvk.group, "version": gvk.version, "kind": gvk.kind}
            answer = await client.ask(post(question(kind=kind, object=obj, operation=operation, uid="1")))
            received = receive(answer.body, uid="1", operation=operation, obj=obj)
            assert received == (obj if expected == "unchanged" else expected), gvk
        assert len(answered) >= 40
        await client.close()


async def test_file_of_many_broken_definitions_is_logged_in_few_lines(tmp_path: Path) -> None:
    (tmp_path / "many.yaml").write_text("---\na: 1\n" * 500)
    (tmp_path / "one.yaml").write_text("a: 1\n")
    with capture_logs() as said:
        async with Server(Settings(port=0, plain_http=True, catalogue=False, folders=(tmp_path,))) as server:
            (tmp_path / "mill.yaml").write_text((KARTAS / "mill.yaml").read_text())
            await server._store.reload()  # noqa: SLF001 - what the log has already is not repeated
    told = Counter((line["event"], Path(line["source"]).name) for line in said if "source" in line)
    assert told == {
        ("definitions cannot be read", "many.yaml"): 20,
        ("more definitions cannot be used", "many.yaml"): 1,
        ("definitions cannot be read", "one.yaml"): 1,
    }
    assert [line["more"] for line in said if "more" in line] == [480]


async def test_idle_connections_are_closed_at_once_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "CLOSE_SECONDS", 2 * HANG)
    settings = Settings(port=0, plain_http=True, grace_period=0.0, folders=(KARTAS,), catalogue=False)
    async with Server(settings) as server:
        client = await Client.connect(server.started.port, None)
        assert (await client.ask(get("/healthz"))).status == 200
        await server.wind_down()
    assert await client.remainder() == b"", "a call that is sent meanwhile would be lost"
    await client.close()


async def test_started_server_tells_url_and_kinds() -> None:
    settings = Settings(port=0, host="0.0.0.0", folders=(KARTAS,), catalogue=False)  # noqa: S104 - the case
    async with Server(settings) as server:
        started = server.started
    assert started.port != 0
    assert started.url == f"https://127.0.0.1:{started.port}"
    assert [gvk.kind for gvk in started.snapshot.kinds()] == ["Balloon", "GrainMill", "Treadmill"]
    assert started.certificate is not None
    assert started.certificate.authority.startswith(b"-----BEGIN CERTIFICATE-----")
