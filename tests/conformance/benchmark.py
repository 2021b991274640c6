"""What a scripted answer costs beside Karmada's Lua VM: processor time on the same objects, in one run."""

import platform
import statistics
import time
from importlib.metadata import version
from pathlib import Path

import orjson

from interpreter.lua.script import Script
from tests.benchmarks.workload import ray_cluster, request_body
from tests.conformance import ours
from tests.conformance.bundle import Bundled
from tests.conformance.peer import Peer
from tests.conformance.question import Question

_SIZES = {"5 KB": 5 * 1024, "20 KB": 20 * 1024, "100 KB": 100 * 1024}
_OPERATIONS = ("InterpretComponent", "InterpretHealth")
_BEGIN, _END = "<!-- bench: begin -->\n", "<!-- bench: end -->\n"
_ROUNDS = 5
_SECONDS = 0.6
_COPIES = 16


def benchmark(peer: Peer, bundle: list[Bundled]) -> str:
    """Give a Markdown table of processor time per call; each figure is the median of interleaved rounds."""
    (scripts,) = (bundled.scripts for bundled in bundle if bundled.gvk.kind == "RayCluster")
    rows = [
        _row(peer, scripts.of(operation), size, length) for operation in _OPERATIONS for size, length in _SIZES.items()
    ]
    setting = (
        f"{_processor()}, {platform.system()}, CPython {platform.python_version()}, lupa {version('lupa')}; "
        f"median of {_ROUNDS} rounds of {_SECONDS} s of processor time."
    )
    heads = ["| function | object | Karmada, µs | here, µs | ratio |", "|---|---|---|---|---|"]
    return "\n".join([setting, "", *heads, *rows, ""])


def write(table: str, page: Path) -> None:
    """Put the table into its place on a page."""
    head, rest = page.read_text().split(_BEGIN)
    _, tail = rest.split(_END)
    page.write_text(f"{head}{_BEGIN}{table}{_END}{tail}")


def _row(peer: Peer, scripts: tuple[Script, ...], size: str, length: int) -> str:
    request = orjson.loads(request_body(scripts[0].operation, length, ray_cluster))["request"]
    text, theirs, here = orjson.dumps(request["object"]), [], []
    for _ in range(_ROUNDS):
        theirs.append(peer.microseconds(Question(scripts, request["object"]), _SECONDS))
        here.append(_microseconds(scripts, text))
    one, other = statistics.median(theirs), statistics.median(here)
    return f"| `{scripts[0].function}` | RayCluster, {size} | {one:.0f} | {other:.1f} | {one / other:.1f} |"


def _microseconds(scripts: tuple[Script, ...], text: bytes) -> float:
    # Several copies: an answer that was remembered by the identity of its object would cost nothing.
    questions = [Question(scripts, orjson.loads(text)) for _ in range(_COPIES)]
    calls, begun = 0, time.process_time()
    while (spent := time.process_time() - begun) < _SECONDS:
        for question in questions:
            ours.ask(question)
        calls += _COPIES
    return 1e6 * spent / calls


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
