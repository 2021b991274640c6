"""What the README shows of a server: its start and end, and the question that it answers."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.webhook.process.client import post
from tests.webhook.process.process import running

_ROOT = Path(__file__).parents[2]


async def test_server_answers_as_the_readme_shows() -> None:
    page = (_ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.search(r"/interpret .* -d @(\S+)\n(\{.*\})\n", page)
    assert shown
    with running(_ROOT / "kartas" / "apps", plain_http=True) as server:
        client = await server.connect()
        answer = await client.ask(post((_ROOT / shown[1]).read_bytes()))
        await client.close()

    assert answer.body.decode().strip() == shown[2]


@pytest.mark.slow
def test_signal_to_make_serve_ends_the_server(tmp_path: Path) -> None:
    (tmp_path / "index.html").touch()  # no page is built
    settings = ("PORT=0", f"STATIC={tmp_path}", f"BIN={Path(sys.executable).parent}", "--assume-old=.venv/run.stamp")
    command = ["make", "serve", *settings]
    with subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as make:
        assert make.stdout
        next(line for line in make.stdout if '"serving"' in line)
        make.terminate()
        assert '"stopping"' in make.stdout.read(), "read ends with the last process that writes there"
