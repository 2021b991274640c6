"""A machine that has nothing to give for a while: files, sockets, processes."""

import asyncio
import errno
import os
import socket
from dataclasses import replace
from typing import Any

import pytest

from karta_interpreter.base.errors import RequestError, ServeError
from karta_interpreter.webhook.answering.child_lane import ChildLane
from karta_interpreter.webhook.http.certificate import Certificate, CertificateSource, check_pair
from karta_interpreter.webhook.http.tls import Tls
from tests.support.waiting import HANG
from tests.webhook.http.pairs import chain_pem, key_pem, new_key
from tests.webhook.logs import capture_logs

NONE_LEFT = OSError(errno.EMFILE, os.strerror(errno.EMFILE))


def certificate() -> Certificate:
    key = new_key()
    return check_pair(chain_pem(key), key_pem(key), sources={"chain": "tls.crt", "key": "tls.key"})


def nothing_left(*_: Any, **__: Any) -> Any:
    raise NONE_LEFT


class Failing(CertificateSource):
    """A source that has a new certificate after one failure of this kind."""

    def __init__(self, error: Exception) -> None:
        self.looks = 0
        self._error = error

    def read(self) -> Certificate:
        return certificate()

    async def fetch(self) -> Certificate:
        self.looks += 1
        if self.looks == 1:
            raise self._error
        return certificate()

    async def close(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize("error", [NONE_LEFT, RuntimeError("can't start new thread"), ServeError("away")])
async def test_failed_renewal_is_retried(error: Exception) -> None:
    source = Failing(error)
    renewed = asyncio.Event()
    tls = Tls(source, renewed.set)
    with capture_logs() as said:
        task = asyncio.create_task(tls.run(0.01))
        async with asyncio.timeout(HANG):
            await renewed.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert [line["event"] for line in said[:2]] == [
        "there is no new certificate, the present one stays",
        "certificate renewed",
    ]


async def test_failure_before_the_first_certificate_is_not_called_a_failed_renewal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = Failing(ServeError("away"))
    monkeypatch.setattr(source, "read", lambda: replace(certificate(), is_placeholder=True))
    with capture_logs() as said:
        await Tls(source).reload_if_changed()
    assert [line["event"] for line in said] == ["there is no certificate yet"]


async def test_large_call_without_process_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "socketpair", nothing_left)
    with pytest.raises(RequestError, match="no process can be started: Too many open files") as raised:
        await ChildLane().review(b"{}", 30.0, {})
    assert raised.value.status == 503
