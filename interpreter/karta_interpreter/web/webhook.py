"""The webhook as the process of the types API and the console sees it: what it knows, and what it is asked."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from pydantic import TypeAdapter

from karta_interpreter.base.errors import ServeError
from karta_interpreter.webhook.server.certificate import Certificate, CertificateSource
from karta_interpreter.webhook.server.metrics import AnswerCounts
from karta_interpreter.webhook.server.web_process import State, WebChannel


class Webhook(CertificateSource):
    """The other end of a channel, and the source of its certificate."""

    def __init__(self, channel: WebChannel) -> None:
        self._channel = channel
        self._asked = deque[asyncio.Future[Any]]()
        self.state = State()
        self.met = asyncio.Event()
        """Set when there is a state of the webhook."""
        self.on_drain: Callable[[], None] = lambda: None
        self.stopping = asyncio.Event()
        """Set when this process has to end: the webhook says so, or has ended."""

    def read(self) -> Certificate:
        """Return the certificate of the webhook; raises ServeError where it has none."""
        if self.state.certificate is None:
            raise ServeError("the webhook has no certificate")
        return self.state.certificate

    async def follow(self) -> None:
        """Take states and answers until the webhook ends."""
        states = TypeAdapter(State)
        try:
            while (document := await self._channel.receive()) is not None:
                if "answer" in document:
                    asked = self._asked.popleft()
                    if not asked.done():
                        asked.set_result(document["answer"])
                    continue
                self.state = states.validate_python(document["state"])
                self.met.set()
                if self.state.draining:
                    self.on_drain()
                if self.state.stopping:
                    self.stopping.set()
        finally:
            self.met.set()
            self.stopping.set()

    async def ask(self, what: str, *about: Any) -> Any:  # noqa: ANN401 - JSON
        """Return the answer to a question (`karta_interpreter.webhook.server.web_process.WebProcess`)."""
        answer = asyncio.get_running_loop().create_future()
        self._asked.append(answer)
        await self._channel.send([what, *about])
        return await answer

    async def totals(self) -> AnswerCounts:
        """The counters, in parts between which the webhook answers calls."""
        series: dict[tuple[str, str, str], tuple[int, float, int]] = {}
        while (part := await self.ask("totals", len(series)))["series"]:
            series |= {(each[0], each[1], each[2]): (each[3], each[4], each[5]) for each in part["series"]}
        return AnswerCounts(series, {operation: tuple(counts) for operation, counts in part["within"].items()})
