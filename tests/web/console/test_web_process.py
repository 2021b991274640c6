"""The types API has a process of their own, next to the webhook's."""

import asyncio
import http.client
import os
import signal
import socket
import ssl
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from karta_interpreter.webhook.process.server import Server
from karta_interpreter.webhook.settings import Settings
from tests.support.waiting import HANG, until
from tests.web.console.in_loop import in_loop
from tests.web.types_api.types_server import (
    TYPES,
    TypesServer,
    command_line,
    running,
    workload,
    workload_type,
)
from tests.webhook.http.pairs import chain_pem, key_pem, new_key
from tests.webhook.process.forked import forked
from tests.webhook.process.processes import is_there


def listener(url: str) -> str:
    """The socket that listens at a URL, as the files of its process name it."""
    port = urlsplit(url).port
    rows = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    (inode,) = (row[9] for row in rows if row[3] == "0A" and int(row[1].partition(":")[2], 16) == port)
    return f"socket:[{inode}]"


def files(pid: int) -> set[str]:
    return {str(each.readlink()) for each in Path(f"/proc/{pid}/fd").iterdir() if each.is_symlink()}


def killed_first(pid: int) -> bool:
    return Path(f"/proc/{pid}/oom_score_adj").read_text() == "1000\n"


def ready(server: TypesServer) -> bool:
    connection = http.client.HTTPConnection(urlsplit(server.webhook).netloc, timeout=HANG)
    connection.request("GET", "/readyz")
    status = connection.getresponse().status
    connection.close()
    return status == http.HTTPStatus.OK


async def test_webhook_goes_on_when_the_process_is_killed_which_comes_back(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        web, webhook = server.web, server.child.pid
        assert webhook
        for url, owner in ((server.url, web), (server.webhook, webhook)):
            assert [listener(url) in files(pid) for pid in (web, webhook)] == [owner == web, owner == webhook]
        assert killed_first(web)

        assert server.post(workload_type()).status == 201
        assert server.interpret(workload())["replicas"] == 3
        os.kill(web, signal.SIGSTOP)
        assert server.interpret(workload())["replicas"] == 3, "nothing waits for the other process"
        os.kill(web, signal.SIGKILL)
        assert server.logged("the workload types API starts again")["reason"].endswith("SIGKILL")
        assert (server.interpret(workload())["replicas"], ready(server)) == (3, True)

        assert server.logged("workload types API")["url"] == server.url, "at the same address"
        (found,) = server.get().json["types"]
        assert found["name"] == "GrainMill"
        assert server.ask("DELETE", f"{TYPES}/{found['id']}").status == 204
        assert not server.interpret(workload())["successful"]

        web = server.web
        os.kill(web, signal.SIGTERM)  # as systemd sends it to all processes of a service
        os.kill(webhook, signal.SIGTERM)
        server.child.join(HANG)
        assert (server.child.exitcode, is_there(web)) == (0, False)
        rest = [server.lines.get() for _ in range(server.lines.qsize())]
        assert not any(b"start again" in line for line in rest)


async def test_process_ends_with_the_webhook(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        web = server.web
        server.child.kill()
        await until(lambda: not is_there(web))


def test_address_in_use_ends_the_start(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        arguments = [*command_line(tmp_path), "--types-api", f"127.0.0.1:{port}"]
        with forked("from tests.support.bounds import run; run()", *arguments) as (server, _, stderr):
            said = stderr.read().decode().splitlines()
            server.join(HANG)
            assert server.exitcode == 1
    hint = "another process listens there: stop it, or choose another port"
    assert said[-1] == f"error: cannot listen on 127.0.0.1 port {port}: {hint}"


async def test_renewed_certificate_reaches_the_process(tmp_path: Path) -> None:
    key, pair = new_key(), (tmp_path / "tls.crt", tmp_path / "tls.key")
    chains = [chain_pem(key, (name,)) for name in ("old", "new")]
    pair[0].write_bytes(chains[0])
    pair[1].write_bytes(key_pem(key))
    (tmp_path / "tokens").write_text("a-token-of-tests-0123456789")
    given: dict[str, Any] = {"types_api": ("0.0.0.0", 0), "types_folder": tmp_path}  # noqa: S104 - a test of TLS
    given |= {"types_token_file": tmp_path / "tokens", "certificate_file": pair[0], "key_file": pair[1]}
    urls: dict[str, str] = {}
    async with Server(Settings(port=0, catalogue=False, certificate_interval=0.01, **given), [in_loop(urls)]):
        port = urlsplit(urls["workload types API"]).port
        assert port
        assert await shown(port) == chains[0]
        pair[0].write_bytes(chains[1])
        while await shown(port) != chains[1]:
            pass


async def shown(port: int) -> bytes:
    """The certificate that a client of the API sees."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
    found = ssl.DER_cert_to_PEM_cert(writer.get_extra_info("ssl_object").getpeercert(binary_form=True))
    writer.close()
    return found.encode()
