"""Calls, errors and latencies of the last hour, from the counters of a server."""

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.web.webhook import INTERVAL, LastHour
from karta_interpreter.webhook.process.metrics import AnswerCounts, CallMetrics

JOB = GVK("batch", "v1", "Job")
REPLICA = "InterpretReplica"


class Server:
    """The counters of a server, and a clock."""

    def __init__(self) -> None:
        self.metrics, self.now = CallMetrics(), 0.0
        self.hour = LastHour(self._totals, lambda: self.now)

    async def _totals(self) -> AnswerCounts:
        return self.metrics.totals()

    @classmethod
    async def started(cls) -> "Server":
        server = cls()
        await server.hour.sample()
        server.now = 1.0
        return server

    def call(self, code: int = 200, seconds: float = 0.002, times: int = 1) -> None:
        for _ in range(times):
            self.metrics.add(REPLICA, JOB, code, seconds)

    async def pass_time(self, seconds: float) -> None:
        for _ in range(round(seconds / INTERVAL)):
            self.now += INTERVAL
            await self.hour.sample()


async def test_calls_are_counted_by_kind_and_operation() -> None:
    server = await Server.started()
    server.call(times=3)
    server.call(code=422, seconds=0.2)
    server.now = 60.0

    assert await server.hour.document() == {
        "seconds": 60,
        "calls": [
            {
                "operation": REPLICA,
                "kind": "batch/v1/Job",
                "calls": 4,
                "errors": 1,
                "meanMilliseconds": 51.5,
                "slow": 1,
            }
        ],
        "operations": [{"operation": REPLICA, "p50": 2.5, "p99": 500.0}],
    }


async def test_calls_older_than_an_hour_are_left_out() -> None:
    server = await Server.started()
    server.call(times=100)
    await server.pass_time(3000)
    server.call(times=7)
    await server.pass_time(1200)
    found = await server.hour.document()

    assert (found["seconds"], [each["calls"] for each in found["calls"]]) == (3600, [7])


async def test_between_two_samples_the_time_is_that_of_the_calls() -> None:
    server = await Server.started()
    await server.pass_time(3600)
    server.call(times=7)
    await server.pass_time(3600)
    server.call(times=3)
    server.now += INTERVAL - 1
    found = await server.hour.document()

    assert (found["seconds"], [each["calls"] for each in found["calls"]]) == (3600 + INTERVAL - 1, [10])


async def test_hour_without_calls_is_empty() -> None:
    server = await Server.started()
    server.call()
    await server.pass_time(9000)
    assert await server.hour.document() == {"seconds": 3600, "calls": [], "operations": []}


async def test_quantile_above_last_bucket_has_no_bound() -> None:
    server = await Server.started()
    server.call(seconds=9.0)
    assert (await server.hour.document())["operations"] == [{"operation": REPLICA, "p50": None, "p99": None}]
