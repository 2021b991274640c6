"""What a server must not import: every library that it holds for nothing takes memory and time at each start."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.server.pairs import chain_pem, key_pem, new_key

PROGRAM = """
import asyncio, json, sys
from pathlib import Path
from karta_interpreter.cli import serve
from karta_interpreter.server.server import Server
from karta_interpreter.server.settings import Settings

async def main():
    files = {name: Path(path) for name, path in json.loads(sys.argv[1]).items()}
    async with Server(Settings(port=0, **files)):
        print(*sys.modules)

asyncio.run(main())
"""

FOR_NOBODY = {
    "aiohttp.web": "routes, websockets and static files",
    "karta_interpreter.cli.interpret": "another command",
    "karta_interpreter.console": "for `serve --console-port`",
    "karta_interpreter.doctor": "the doctor's",
    "karta_interpreter.karta.scaffold": "for authors",
    "karta_interpreter.karta.schema_export": "for authors",
    "karta_interpreter.suites": "for authors",
    "pydantic.v1": "the library of another age",
    "rich": "colours for people",
}
FOR_SOME = {
    "karta_interpreter.registration": "for who has a control plane",
    "karta_interpreter.sources.cluster": "for who has a control plane",
    "kubernetes_asyncio": "for who has a control plane",
    "watchfiles": "for who has folders",
}


def imported(**settings: Any) -> set[str]:
    command = [sys.executable, "-c", PROGRAM, json.dumps(settings)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    modules = ran.stdout.split()
    return {".".join(name.split(".")[:length]) for name in modules for length in range(1, name.count(".") + 2)}


@pytest.mark.parametrize("own", [False, True], ids=["certificate from files", "certificate of its own"])
def test_a_server_imports_what_it_needs(tmp_path: Path, own: bool) -> None:
    settings: dict[str, Any] = {}
    if not own:
        key = new_key()
        for name, content in (("certificate_file", chain_pem(key)), ("key_file", key_pem(key))):
            (tmp_path / name).write_bytes(content)
            settings[name] = str(tmp_path / name)
    modules = imported(**settings)

    assert {"aiohttp", "karta_interpreter.server"} <= modules
    assert modules.isdisjoint(FOR_NOBODY | FOR_SOME), modules & (FOR_NOBODY | FOR_SOME).keys()
