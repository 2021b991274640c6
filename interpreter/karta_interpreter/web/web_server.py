"""The process of a server's types API: a second server, with the same definitions, next to the webhook.

The webhook starts it (`karta_interpreter.web.web_process`), with its end of a channel and the settings as
arguments. It ends when the channel does. It registers nothing and writes no status.
"""

import asyncio
import os
import resource
import signal
import socket
import sys
from collections.abc import Coroutine
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import TypeAdapter

from karta_interpreter.base.errors import InterpreterError
from karta_interpreter.base.sandbox.container import container_memory
from karta_interpreter.definitions.karta.schema import karta_api_group
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.definitions.sources.budget import Budget
from karta_interpreter.definitions.sources.cluster import Cluster
from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.web.types_api.api import serve_types
from karta_interpreter.web.web_process import BEAT_SECONDS, WebChannel, message
from karta_interpreter.web.webhook import Webhook
from karta_interpreter.webhook.http.tls import Tls
from karta_interpreter.webhook.log import configure_log, flush_log, open_standard_files
from karta_interpreter.webhook.memory import keep_memory_trimmed, release_memory, settle_garbage
from karta_interpreter.webhook.process.server import store_of
from karta_interpreter.webhook.process.signals import event_loop
from karta_interpreter.webhook.settings import Settings

_CERTIFICATE_SECONDS = 0.5


async def run(settings: Settings, end: socket.socket) -> None:
    """Serve what settings ask for until the webhook, at the other end of the channel, stops or ends."""
    channel = await WebChannel.of(end)
    webhook = Webhook(channel)
    following = asyncio.create_task(webhook.follow())
    try:
        async with AsyncExitStack() as opened:
            _keep(opened, _beat(channel))
            store, started = await _open(settings, webhook, opened)
            await channel.send(message(started))
            settle_garbage()  # only now: each change of definitions would collect over all of them
            store.subscribe(lambda _: release_memory())  # the snapshot before is garbage then
            _keep(opened, store.watch())
            _keep(opened, keep_memory_trimmed())
            await webhook.stopping.wait()
        if following.done():
            following.result()
    except InterpreterError as error:
        await channel.send(message({"urls": {}, "ports": {}, "error": str(error)}))
    finally:
        following.cancel()
        channel.close()


async def _beat(channel: WebChannel) -> None:
    """Let the webhook know that the event loop runs, until cancelled."""
    while True:
        await channel.send(message({}))
        await asyncio.sleep(BEAT_SECONDS)


async def _open(settings: Settings, webhook: Webhook, opened: AsyncExitStack) -> tuple[Store, dict[str, Any]]:
    """Read the definitions and listen. Return the definitions, and the URLs with the ports as settings.

    Everything that ``opened`` closes, in reverse order, stays. Raises InterpreterError if the settings do not allow it.
    """
    api = cluster = tls = None
    if settings.cluster:
        api = await opened.enter_async_context(ApiServer.of(settings.kubeconfig, settings.context))
        if settings.kubeconfig:
            api.check()
        cluster = Cluster(api, reports=False, budget=Budget.of_container())
    store = store_of(settings, cluster)
    # Before anybody can connect, and in a thread: the process goes on to beat.
    await asyncio.to_thread(store.load)
    await webhook.met.wait()
    if webhook.state.certificate:
        tls = Tls(webhook)
        _keep(opened, tls.run(_CERTIFICATE_SECONDS))
    urls: dict[str, str] = {}
    ports: dict[str, object] = {}
    if settings.types_api:
        serving = serve_types(settings, store, api, cluster, tls, webhook)
        url = urls["workload types API"] = await opened.enter_async_context(serving)
        ports["types_api"] = settings.types_api[0], urlsplit(url).port
    return store, {"urls": urls, "ports": ports}


def _keep(opened: AsyncExitStack, work: Coroutine[None, None, None]) -> None:
    """Work in the background until the end."""
    opened.callback(asyncio.create_task(work).cancel)


def main() -> None:
    """Run as a process of its own."""
    # What stops all processes of the server at once, such as systemd, leaves the end of this one to the webhook.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    open_standard_files()
    end = socket.socket(fileno=int(sys.argv[1]))
    settings = TypeAdapter(Settings).validate_json(sys.argv[2])
    configure_log(settings.log_level)
    _yield_to_webhook()
    try:
        with karta_api_group(settings.karta_api_group), event_loop() as runner:
            runner.run(run(settings, end))
    finally:
        flush_log()


def _yield_to_webhook() -> None:
    """Take less of the processor than the webhook, at most half of the memory, and be killed before it."""
    os.nice(5)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")  # the greatest there is
    # Not above a limit that this process already has. -1 stands for no limit.
    memory = min(container_memory() // 2, resource.getrlimit(resource.RLIMIT_DATA)[1] % 2**64)
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


if __name__ == "__main__":
    main()
