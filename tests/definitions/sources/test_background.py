import asyncio

import pytest

from karta_interpreter.definitions.sources.background import keep_running
from tests.support.waiting import turns


async def test_work_that_fails_at_once_is_started_again_after_a_pause(caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> None:
        raise ValueError

    task = asyncio.create_task(keep_running("works", work, 3600))
    await turns()
    task.cancel()

    assert [record.message for record in caplog.records] == ["an error in this program while it works; it goes on"]
