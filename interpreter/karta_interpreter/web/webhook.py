"""The webhook as seen by the process of the types API: its state, and questions to it."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from pydantic import TypeAdapter

from karta_interpreter.base.errors import ServeError
from karta_interpreter.web.web_process import State, WebChannel, message
from karta_interpreter.webhook.http.certificate import Certificate, CertificateSource


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
        """Return the certificate of the webhook. Raises ServeError if it has none."""
        if self.state.certificate is None:
            raise ServeError("the webhook has no certificate")
        return self.state.certificate

    async def follow(self) -> None:
        """Take states and answers until the webhook ends."""
        states = TypeAdapter(State)
        try:
            while (document := await self._channel.receive()) is not None:
                if "state" not in document:
                    answer = self._asked.popleft()
                    if not answer.done() and "error" in document:
                        answer.set_exception(ServeError(document["error"]))
                    elif not answer.done():
                        answer.set_result(document["answer"])
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
        """Return the answer to a question (`karta_interpreter.web.web_process.WebProcess`).

        Raises ServeError if there is none.
        """
        answer = asyncio.get_running_loop().create_future()
        self._channel.write(message([what, *about]))
        self._asked.append(answer)
        return await answer
