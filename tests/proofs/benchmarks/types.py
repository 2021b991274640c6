"""``python -m tests.proofs.benchmarks.types``: the list of 10,000 types, and the memory that it takes.

Both servers read the same files; only one of them serves the workload types API, from a second process. The times are
those of whole requests on loopback.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import orjson

from karta_interpreter.web.types_api.records import StoredType
from tests.web.types_api.types_server import TYPES, TypesClient, command_line, karta, workload_type
from tests.webhook.process.processes import descendants

_MIB = 2**20
_TURNS = 30
_PAGES = {
    "first page": "?limit=50",
    "largest page": "?limit=200",
    "filtered and sorted": "?filterBy=name=@99&sortBy=priorityId",
    "last page, backwards": "?offset=9950&limit=50&sortOrder=desc",
}


def main() -> None:
    """Measure, and print a line for each figure."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.benchmarks.types", description=__doc__)
    parser.add_argument("--types", type=int, default=10_000, help="how many types there are")
    count = parser.parse_args().types
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        _write(root / "types", count)
        alone = _memory_alone(root / "types")
        with _serving(command_line(root)) as (pid, server):
            server.get()
            (web,) = (each for each in descendants(pid) if b"web_server" in Path(f"/proc/{each}/cmdline").read_bytes())
            idle, second = _memory(pid), _memory(web)
            for name, query in _PAGES.items():
                _say(name, _seconds(server, query))
            after = _memory(web)
            begun = time.perf_counter()
            answer = server.post(workload_type("NewMill"))
            sys.stdout.write(f"a registration: {answer.status} after {(time.perf_counter() - begun) * 1e3:.0f} ms\n")
    sys.stdout.write(f"memory: {alone / _MIB:.0f} MiB with the Kartas alone, with the API {idle / _MIB:.0f} MiB and ")
    sys.stdout.write(f"{second / _MIB:.0f} MiB in its process, there {after / _MIB:.0f} MiB after ")
    sys.stdout.write(f"{_TURNS * len(_PAGES)} requests\n")


def _write(folder: Path, count: int) -> None:
    folder.mkdir()
    for number in range(count):
        kind = f"Mill{number}"
        stored = StoredType.new("mill.example.org", kind, "train", ("low", "high")[number % 2], [karta(kind)])
        items = {"apiVersion": "v1", "kind": "List", "items": [*stored.kartas.values()]}
        (folder / f"{kind}.mill.example.org.json").write_bytes(orjson.dumps(items))


def _memory_alone(folder: Path) -> float:
    given = ["serve", "--port", "0", "--no-catalogue", "--plain-http", "--log-format", "json", "--kartas", str(folder)]
    with _serving(given) as (pid, _):
        return _memory(pid)


@contextmanager
def _serving(arguments: list[str]) -> Iterator[tuple[int, TypesClient]]:
    """The id and a client of a server in a new process: a forked one has the memory of the other, too."""
    command = [sys.executable, "-m", "karta_interpreter", *arguments]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as child:
        assert child.stderr is not None
        urls: dict[str, str] = {}
        try:
            while "serving" not in urls:
                line = json.loads(child.stderr.readline())
                urls[line["message"]] = line.get("url", "")
            Thread(target=child.stderr.read, daemon=True).start()
            yield child.pid, TypesClient(urls.get("workload types API", ""), urls["serving"])
        finally:
            child.kill()


def _memory(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return float(pages * resource.getpagesize())


def _seconds(server: TypesClient, query: str) -> list[float]:
    taken = []
    for _ in range(_TURNS):
        begun = time.perf_counter()
        assert server.get(TYPES + query).status == 200
        taken.append(time.perf_counter() - begun)
    return taken


def _say(name: str, seconds: list[float]) -> None:
    median, worst = statistics.median(seconds) * 1e3, max(seconds) * 1e3
    sys.stdout.write(f"{name}: {min(seconds) * 1e3:.1f} ms at best, {median:.1f} ms median, {worst:.1f} ms at worst\n")


if __name__ == "__main__":
    main()
