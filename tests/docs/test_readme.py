"""The question that the README asks a server."""

import re
from pathlib import Path

from tests.webhook.process.client import post
from tests.webhook.process.process import running

_ROOT = Path(__file__).parents[2]


async def test_server_answers_as_the_readme_shows() -> None:
    page = (_ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.search(r"/interpret --json @(\S+)\n(\{.*\})\n", page)
    assert shown
    with running(_ROOT / "kartas" / "apps", plain_http=True) as server:
        client = await server.connect()
        answer = await client.ask(post((_ROOT / shown[1]).read_bytes()))
        await client.close()

    assert answer.body.decode().strip() == shown[2]
