"""A machine that has nothing to give for a while: files, sockets, processes."""

import asyncio
import errno
import os
import resource
import socket
from pathlib import Path
from typing import Any

import pytest

from karta_interpreter.errors import RequestError, ServeError
from karta_interpreter.pki.certificate import Certificate
from karta_interpreter.pki.pair import check_pair
from karta_interpreter.server.large_process import LargeProcess
from karta_interpreter.server.metrics import Metrics
from karta_interpreter.server.renewal import Renewal
from karta_interpreter.server.serving import Server
from karta_interpreter.server.settings import Settings
from karta_interpreter.server.tls import Tls
from karta_interpreter.server.workers.worker import Worker
from tests.server.logs import capture_logs
from tests.server.pairs import chain_pem, key_pem, new_key
from tests.server.process import KARTAS
from tests.server.test_tls import connect_when, write_pair
from tests.server.workers.processes import until, workers

NONE_LEFT = OSError(errno.EMFILE, os.strerror(errno.EMFILE))


def certificate() -> Certificate:
    key = new_key()
    return check_pair(chain_pem(key), key_pem(key), sources={"chain": "tls.crt", "key": "tls.key"})


def nothing_left(*_: Any, **__: Any) -> Any:
    raise NONE_LEFT


class Failing:
    """A source that has a new certificate after one failure of this kind."""

    def __init__(self, error: Exception) -> None:
        self.looks = 0
        self._error = error

    def read(self) -> Certificate:
        return certificate()

    async def look(self) -> Certificate:
        self.looks += 1
        if self.looks == 1:
            raise self._error
        return certificate()

    async def close(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize("error", [NONE_LEFT, RuntimeError("can't start new thread"), ServeError("away")])
async def test_a_look_that_fails_is_not_the_last_one(error: Exception) -> None:
    source = Failing(error)
    tls = Tls(source)
    renewed = asyncio.Event()
    with capture_logs() as said:
        task = asyncio.create_task(Renewal(tls, Metrics(), renewed.set).run(0.01))
        async with asyncio.timeout(10):
            await renewed.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert [line["event"] for line in said[:2]] == [
        "there is no new certificate, the present one stays",
        "certificate renewed",
    ]


async def test_a_worker_that_cannot_be_started_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    handles = os.listdir("/proc/self/fd")  # noqa: PTH208 - only their number counts
    answers = iter([socket.socketpair, nothing_left])

    def socketpair() -> Any:
        return next(answers)()

    monkeypatch.setattr(socket, "socketpair", socketpair)
    with pytest.raises(ServeError, match="worker 7 cannot be started: Too many open files"):
        await Worker.start(7)
    assert len(os.listdir("/proc/self/fd")) == len(handles), "what there was is given back"  # noqa: PTH208


async def test_a_large_call_without_a_process_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "socketpair", nothing_left)
    with pytest.raises(RequestError, match="no process can be started: Too many open files") as raised:
        await LargeProcess.start()
    assert raised.value.status == 503


async def test_a_worker_without_files_lives_on_and_takes_the_certificate_later(tmp_path: Path) -> None:
    write_pair(tmp_path)
    chosen = Settings(
        port=0,
        workers=2,
        folders=(KARTAS,),
        catalogue=False,
        certificate_file=tmp_path / "tls.crt",
        key_file=tmp_path / "tls.key",
        certificate_interval=0.05,
    )
    async with Server(chosen) as server:
        pids = workers(os.getpid())
        limits = {pid: resource.prlimit(pid, resource.RLIMIT_NOFILE) for pid in pids}
        for pid, (_, most) in limits.items():
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, most))
        first, second = server.started.certificate, write_pair(tmp_path)
        await until(lambda: server.started.certificate != first)
        await asyncio.sleep(0.5)
        assert workers(os.getpid()) == pids
        for pid, limit in limits.items():
            resource.prlimit(pid, resource.RLIMIT_NOFILE, limit)
        clients = [await connect_when(server.started.port, second) for _ in pids]
        assert workers(os.getpid()) == pids
        for client in clients:
            await client.close()
