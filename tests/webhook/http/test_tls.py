"""TLS on the wire, and certificates that change under open connections."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding

from karta_interpreter.base.errors import ServeError
from karta_interpreter.webhook.http import listener
from karta_interpreter.webhook.http.certificate import Certificate, CertificateSource
from karta_interpreter.webhook.http.tls import SelfSignedCertificates, Tls
from karta_interpreter.webhook.process import metrics
from karta_interpreter.webhook.process.server import Server
from karta_interpreter.webhook.settings import Settings
from tests.support.waiting import HANG, Clock, turns
from tests.webhook.http.pairs import Key, chain_pem, key_pem, new_key
from tests.webhook.logs import capture_logs
from tests.webhook.process.client import Answer, Client, get, post, question, trusting
from tests.webhook.process.process import KARTAS, Process


async def test_client_with_authority_gets_tls_1_3_and_http_1_1(client: Client) -> None:
    tls: ssl.SSLObject = client.writer.get_extra_info("ssl_object")
    assert tls.version() == "TLSv1.3"
    assert tls.selected_alpn_protocol() == "http/1.1"


async def test_tls_1_2_is_the_oldest_that_is_spoken(server: Process) -> None:
    context = trusting(server.authority)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    client = await Client.connect(server.port, context)
    assert (await client.ask(post(question()))).response["successful"]
    await client.close()
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    with pytest.raises((ssl.SSLError, ConnectionError)):
        await Client.connect(server.port, context)


async def test_client_that_trusts_others_is_refused(server: Process) -> None:
    with pytest.raises(ssl.SSLCertVerificationError):
        await Client.connect(server.port, ssl.create_default_context())


async def test_plain_http_on_a_tls_port_gets_nothing(server: Process) -> None:
    client = await Client.connect(server.port, None)
    await client.send(get("/healthz"))
    assert b"200" not in await client.remainder()
    await client.close()


@asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[int]:
    """Serve, in this process, with the pair of a folder that is looked at all the time."""
    settings = Settings(
        port=0,
        folders=(KARTAS,),
        catalogue=False,
        certificate_file=folder / "tls.crt",
        key_file=folder / "tls.key",
        certificate_interval=0.01,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metrics, "_PAGE_SECONDS", 0.0)  # tests wait for the next page
        async with Server(settings) as server:
            yield server.started.port


def write_pair(folder: Path, key: Key | None = None) -> bytes:
    """Write a new pair, and return its certificate."""
    key = key or new_key()
    chain = chain_pem(key)
    (folder / "tls.key").write_bytes(key_pem(key))
    (folder / "tls.crt").write_bytes(chain)
    return chain


def end_of(chain: bytes) -> datetime:
    return x509.load_pem_x509_certificate(chain).not_valid_after_utc


def der(chain: bytes) -> bytes:
    return x509.load_pem_x509_certificate(chain).public_bytes(Encoding.DER)


async def connect_when(port: int, chain: bytes) -> Client:
    """Connect again and again, until the server shows that certificate."""
    async with asyncio.timeout(HANG):
        while True:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            client = await Client.connect(port, context)
            if client.peer_certificate == der(chain):
                return client
            await client.close()


async def test_new_certificate_keeps_old_connections(tmp_path: Path) -> None:
    first = write_pair(tmp_path)
    async with serving(tmp_path) as port:
        old = await Client.connect(port, trusting(first))
        assert (await old.ask(post(question()))).response["successful"]
        second = write_pair(tmp_path)
        new = await connect_when(port, second)
        for client in (old, new):
            assert (await client.ask(post(question()))).response["successful"]
            await client.close()
        verified = await Client.connect(port, trusting(second))
        await verified.close()


async def test_new_certificate_may_have_key_of_another_type(tmp_path: Path) -> None:
    write_pair(tmp_path)
    async with serving(tmp_path) as port:
        for key in (rsa.generate_private_key(65537, 2048), new_key()):
            new = await connect_when(port, write_pair(tmp_path, key))
            await new.close()


def errors(answer: Answer) -> float:
    line = next(line for line in answer.body.splitlines() if b"certificate_errors_total " in line and line[:1] != b"#")
    return float(line.split()[1])


async def test_broken_pair_is_counted_and_old_pair_stays(tmp_path: Path) -> None:
    first = write_pair(tmp_path)
    with capture_logs() as log:
        async with serving(tmp_path) as port:
            client = await Client.connect(port, trusting(first))
            (tmp_path / "tls.key").write_bytes(key_pem(new_key()))
            await client.ask_until(get("/metrics"), lambda answer: errors(answer) >= 3)
            unchanged = await connect_when(port, first)
            assert (await client.ask(get("/readyz"))).status == 200
            second = write_pair(tmp_path)
            repaired = await connect_when(port, second)
            for each in (client, unchanged, repaired):
                await each.close()
    # Between the two writes of a repair the pair is a mixed one again, so there may be a second complaint.
    renewed = [line["until"] for line in log if line["event"] == "certificate renewed"]
    assert renewed[-1] == f"{end_of(second):%Y-%m-%d %H:%M} UTC", "the runbook reads the log for it"
    told = [line["reason"] for line in log if line["log_level"] == "error"]
    assert 1 <= len(told) <= 2
    assert "does not belong to the certificate" in told[0]


async def test_first_certificate_is_looked_for_each_second(clock: Clock) -> None:
    placeholder, looks = replace(SelfSignedCertificates().read(), is_placeholder=True), list[int]()

    class Source(CertificateSource):
        def read(self) -> Certificate:
            return placeholder

        async def fetch(self) -> Certificate:
            looks.append(1)
            return placeholder

    task = asyncio.create_task(Tls(Source()).run(HANG))
    await clock.advance(1.1)
    task.cancel()
    assert looks


async def test_looks_for_a_certificate_come_one_after_the_other() -> None:
    signed, looks, most = SelfSignedCertificates().read(), list[int](), list[int]()

    class Source(CertificateSource):
        def read(self) -> Certificate:
            return signed

        async def fetch(self) -> Certificate:
            looks.append(1)
            most.append(len(looks))
            await turns(2)
            looks.pop()
            return signed

    tls = Tls(Source())
    await asyncio.gather(tls.reload_if_changed(), tls.reload_if_changed())
    assert most == [1, 1], "a look may write the Secret"


def test_half_a_pair_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ServeError, match="give both files, or none"):
        Server(Settings(certificate_file=tmp_path / "tls.crt"))


async def test_missing_handshake_delays_no_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "HANDSHAKE_SECONDS", 2 * HANG)
    authority = write_pair(tmp_path)
    async with serving(tmp_path) as port:
        client = await Client.connect(port, trusting(authority))
        silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(50)]
        other = await Client.connect(port, trusting(authority))
        for each in (client, other):
            assert (await each.ask(post(question()))).response["successful"]
            await each.close()
        for _, writer in silent:
            writer.transport.abort()
        await turns()
