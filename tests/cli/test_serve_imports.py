"""What a server must not import: every library that it holds for nothing takes memory and time at each start."""

import json
import subprocess
import sys
from pathlib import Path

from tests.webhook.http.pairs import chain_pem, key_pem, new_key

PROGRAM = """
import asyncio, json, sys
from pathlib import Path
from karta_interpreter.cli import serve
from karta_interpreter.definitions.sources import files
from karta_interpreter.webhook.process.server import Server
from karta_interpreter.webhook.settings import Settings

some, files.catalogue_files = files.catalogue_files()[::30], lambda: some  # to load all takes most of the time

async def main():
    async with Server(Settings(port=0)):
        pass
    pair = {name: Path(path) for name, path in json.loads(sys.argv[1]).items()}
    async with Server(Settings(port=0, catalogue=False, **pair)):
        print(*sys.modules)

asyncio.run(main())
"""

FOR_NOBODY = {
    "aiohttp.web": "routes, websockets and static files",
    "karta_interpreter.cli.interpret": "another command",
    "karta_interpreter.web": "for other commands",
    "karta_interpreter.webhook.doctor": "the doctor's",
    "karta_interpreter.definitions.openapi": "for authors",
    "karta_interpreter.definitions.karta.schema_export": "for authors",
    "karta_interpreter.engine.suites": "for authors",
    "pydantic.v1": "the library of another age",
    "rich": "colours for people",
}
FOR_SOME = {
    "karta_interpreter.webhook.registration": "for who has a control plane",
    "karta_interpreter.definitions.sources.cluster": "for who has a control plane",
    "kubernetes_asyncio": "for who has a control plane",
    "watchfiles": "for who has folders",
}


def imported(files: dict[str, str]) -> set[str]:
    """What a server with a certificate of its own imports, and another one with a certificate from files."""
    command = [sys.executable, "-c", PROGRAM, json.dumps(files)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    modules = ran.stdout.split()
    return {".".join(name.split(".")[:length]) for name in modules for length in range(1, name.count(".") + 2)}


def test_server_imports_only_what_it_needs(tmp_path: Path) -> None:
    key, files = new_key(), {}
    for name, content in (("certificate_file", chain_pem(key)), ("key_file", key_pem(key))):
        (tmp_path / name).write_bytes(content)
        files[name] = str(tmp_path / name)
    modules = imported(files)

    assert {"aiohttp", "karta_interpreter.webhook.process.server"} <= modules
    assert modules.isdisjoint(FOR_NOBODY | FOR_SOME), modules & (FOR_NOBODY | FOR_SOME).keys()
