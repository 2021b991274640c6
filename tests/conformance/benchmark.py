"""What a scripted answer costs beside Karmada's Lua VM: processor time on the same objects, in one run."""

import gc
import platform
import statistics
import time
from importlib.metadata import version
from pathlib import Path

import orjson

from karta_interpreter.k8s.values import JSON
from karta_interpreter.lua.script import Script
from tests.benchmarks.workload import ray_cluster, request_body
from tests.conformance import ours
from tests.conformance.bundle import Bundled
from tests.conformance.peer import Peer
from tests.conformance.question import Question

_SIZES = {"5 KB": 5 * 1024, "20 KB": 20 * 1024, "100 KB": 100 * 1024}
_BEGIN, _END = "<!-- bench: begin -->\n", "<!-- bench: end -->\n"
_ROUNDS = 5
_SECONDS = 0.6
_COPIES = 16


def benchmark(peer: Peer, bundle: list[Bundled]) -> str:
    """Give a Markdown table of processor time per call; each figure is the median of interleaved rounds."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)  # as the server does (interpreter/karta_interpreter/server/server.py)
    (scripts,) = (bundled.scripts for bundled in bundle if bundled.gvk.kind == "RayCluster")
    rows = [
        _row(peer, scripts.of(operation), f"{size}{note}", make(length))
        for operation, note, make in (
            ("InterpretComponent", "", _cluster),
            ("InterpretComponent", ", no two templates alike", _varied_cluster),
            ("InterpretHealth", "", _cluster),
        )
        for size, length in _SIZES.items()
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


def _cluster(length: int) -> JSON:
    """Give a RayCluster whose worker groups differ in their names and counts only."""
    return orjson.loads(request_body("InterpretComponent", length, ray_cluster))["request"]["object"]


def _varied_cluster(length: int) -> JSON:
    """Give one whose pod templates all differ."""
    cluster = _cluster(length)
    for group in cluster["spec"]["workerGroupSpecs"]:
        group["template"]["metadata"]["labels"]["app"] = group["groupName"]
    return cluster


def _row(peer: Peer, scripts: tuple[Script, ...], note: str, cluster: JSON) -> str:
    text, theirs, here = orjson.dumps(cluster), [], []
    for _ in range(_ROUNDS):
        theirs.append(peer.microseconds(Question(scripts, cluster), _SECONDS))
        here.append(_microseconds(scripts, text))
    one, other = statistics.median(theirs), statistics.median(here)
    return f"| `{scripts[0].function}` | RayCluster, {note} | {one:.0f} | {other:.1f} | {one / other:.1f} |"


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
