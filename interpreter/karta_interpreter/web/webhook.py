"""The webhook as seen by the process of the types API and the console: its state, questions to it, its last hour."""

import asyncio
import time
from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from itertools import accumulate
from typing import Any, Final

from pydantic import TypeAdapter

from karta_interpreter.base.errors import ServeError
from karta_interpreter.base.k8s import Object
from karta_interpreter.web.web_process import State, WebChannel, message
from karta_interpreter.webhook.http.certificate import Certificate, CertificateSource
from karta_interpreter.webhook.process.metrics import BOUNDS, AnswerCounts


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

    async def totals(self) -> AnswerCounts:
        """Return the counters, in parts between which the webhook answers calls."""
        series: dict[tuple[str, str, str], tuple[int, float, int]] = {}
        while (part := await self.ask("totals", len(series)))["series"]:
            series |= {(each[0], each[1], each[2]): (each[3], each[4], each[5]) for each in part["series"]}
        return AnswerCounts(series, {operation: tuple(counts) for operation, counts in part["within"].items()})


_HOUR: Final = 3600.0
_SAMPLES: Final = 12
INTERVAL: Final = _HOUR / _SAMPLES
"""Seconds between two samples of the counters. The samples cover one hour."""
_SUCCESS: Final = "success"


class LastHour:
    """Samples the counters of a server. ``read`` returns them as they are, ``clock`` seconds."""

    def __init__(
        self, read: Callable[[], Awaitable[AnswerCounts]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._read, self._clock = read, clock
        self._samples = deque[tuple[float, AnswerCounts]]()

    async def sample(self) -> None:
        """Keep the counters of this moment, and forget those older than an hour but the last one."""
        now = self._clock()
        self._samples.append((now, await self._read()))
        # One older sample stays, as the counters from which the hour begins.
        while len(self._samples) > 1 and self._samples[1][0] <= now - _HOUR:
            self._samples.popleft()

    async def run(self) -> None:
        """Sample until cancelled."""
        while True:
            with suppress(ServeError):
                await self.sample()
            await asyncio.sleep(INTERVAL)

    async def document(self) -> Object:
        """Calls, errors and latencies by operation and kind, and their quantiles by operation."""
        if not self._samples:
            await self.sample()
        now, present = self._clock(), await self._read()
        # Up to an interval more than an hour: from the last sample before it, or from the first one.
        since, before = next((each for each in reversed(self._samples) if each[0] <= now - _HOUR), self._samples[0])
        cells: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0, 0, 0.0, 0])
        for (operation, kind, outcome), values in present.series.items():
            calls, seconds, slow = _less(values, before.series.get((operation, kind, outcome)))
            added = (calls, 0 if outcome == _SUCCESS else calls, seconds, slow)
            cells[operation, kind] = [old + more for old, more in zip(cells[operation, kind], added, strict=True)]
        return {
            "seconds": round(now - since),
            "calls": [
                {
                    "operation": operation,
                    "kind": kind,
                    "calls": int(calls),
                    "errors": int(errors),
                    "meanMilliseconds": round(1000 * seconds / calls, 3),
                    "slow": int(slow),
                }
                for (operation, kind), (calls, errors, seconds, slow) in sorted(cells.items())
                if calls
            ],
            "operations": [
                {"operation": operation, "p50": _quantile(counts, 0.5), "p99": _quantile(counts, 0.99)}
                for operation, now_within in sorted(present.within.items())
                if any(counts := _less(now_within, before.within.get(operation)))
            ],
        }


def _less(now: Sequence[float], before: Sequence[float] | None) -> list[float]:
    return [value - old for value, old in zip(now, before or (0,) * len(now), strict=True)]


def _quantile(counts: list[float], share: float) -> float | None:
    """Return the upper bound in milliseconds of the bucket that contains a quantile, None above the last bound.

    >>> _quantile([0, 9, 1, *[0] * 9], 0.5)
    0.25
    """
    sums = list(accumulate(counts))
    index = bisect_left(sums, share * sums[-1])
    return BOUNDS[index] * 1000 if index < len(BOUNDS) else None
