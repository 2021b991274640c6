"""What Karmada itself waits for: its client asks both servers, and its own Lua in turn."""

import base64
import time
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Final, TypeVar

import orjson

from karta_interpreter.languages.lua.customization import load_customizations
from karta_interpreter.languages.lua.machine.worker import WORKERS
from karta_interpreter.languages.lua.script import Scripts
from tests.proofs.benchmarks.core import as_the_server_collects_garbage, microseconds
from tests.proofs.benchmarks.field import Field, Peers
from tests.proofs.benchmarks.program import Program
from tests.proofs.benchmarks.report import Part, Plot, number, table
from tests.proofs.benchmarks.rounds import Effort
from tests.proofs.benchmarks.servers import SERVICE, Server
from tests.proofs.benchmarks.workload import Make, ray_cluster, sized, variant, workload
from tests.support.scripts import answer

T = TypeVar("T")

_OPERATIONS: Final = ("InterpretComponent", "InterpretHealth")
_SIZES: Final = {"5 KB": 5 * 1024, "24 KB": 24 * 1024}
_OURS, _OURS_RAY = "this server, Workload", "this server, RayCluster"
_OURS_SCRIPTED, _GO, _LUA = "this server with Karmada's script, RayCluster", "Go example, Workload", "Lua in Karmada"
_BLANK: Final = "a webhook that knows the answer beforehand, RayCluster"


def client(field: Field, effort: Effort) -> Part:
    """Measure milliseconds per call; gives the ratios of Karmada's other ways to this one."""
    if not field.peers:
        return Part({})
    asked: dict[str, tuple[Server | None, Make]] = {
        _OURS: (field.ours, workload),
        _GO: (field.peers.example, workload),
        _OURS_RAY: (field.ours, ray_cluster),
        _OURS_SCRIPTED: (field.peers.scripted, ray_cluster),
        _BLANK: (field.peers.blank, ray_cluster),
        _LUA: (None, ray_cluster),
    }
    columns = [(size, operation) for size in _SIZES for operation in _OPERATIONS]
    rounds: dict[tuple[str, str, str], list[float]] = {}
    program = field.peers.programs.client
    # Lua is run in a process of its own: it leaves garbage behind, which calls are not to wait for.
    with Program(program) as karmada, Program(program) as lua:
        for number_of_round in range(effort.rounds):
            for size, operation in columns:
                for name, (server, make) in _turned(asked.items(), number_of_round):
                    obj = sized(_SIZES[size], variant(0, make))
                    ask = karmada.ask if server else lua.ask
                    found = ask(operation=operation, object=obj, seconds=effort.seconds, **_place(server, field))
                    rounds.setdefault((name, size, operation), []).append(found["milliseconds"])
    times = {key: median(several) for key, several in rounds.items()}
    heads = ("ms per call", *(f"{operation.removeprefix('Interpret')}, {size}" for size, operation in columns))
    rows = [(name, *(f"{times[name, *column]:.2f}" for column in columns)) for name in asked]
    ratios = {
        f"through Karmada's client, {operation}, {size}, {other}": times[other, size, operation]
        / times[one, size, operation]
        for size, operation in columns
        for one, other in ((_OURS, _GO), (_OURS_RAY, _LUA))
    }
    series = {name: [times[name, *column] for column in columns] for name in asked}
    plot = Plot("client", "A call as Karmada waits for it", "", "ms", heads[1:], series)
    return Part({"client": table(heads, rows)}, ratios, [plot] if effort.whole else [])


def scripts(field: Field, effort: Effort) -> Part:
    """Measure Karmada's scripts in Karmada's Lua and here, the reading of JSON included; gives their ratios."""
    if not field.peers:
        return Part({})
    known = _scripts(field.peers)
    rows, ratios = [], {}
    with Program(field.peers.programs.client) as karmada:
        for size, length in _SIZES.items():
            for operation in _OPERATIONS:
                obj = sized(length, variant(0, ray_cluster))
                theirs, ours = [], []
                for _ in range(effort.rounds):
                    found = karmada.ask(operation=operation, object=obj, seconds=effort.seconds)
                    theirs.append(found["processor"])
                    ours.append(_microseconds(known, operation, orjson.dumps(obj), effort.seconds))
                own, other = median(ours), median(theirs)
                ratios[f"script, {operation}, {size}"] = other / own
                rows.append((operation, size, number(own), number(other), f"{other / own:.1f}"))
    heads = ("script for RayCluster", "size", "here, CPU µs", "Lua in Karmada, CPU µs", "ratio")
    conclusion = (
        f"Karmada's own scripts for RayCluster take {min(ratios.values()):.1f} to {max(ratios.values()):.1f} times as "
        "much processor time in Karmada as here."
    )
    return Part({"scripts": table(heads, rows)}, ratios, conclusions=[conclusion])


def _turned(several: Iterable[T], number_of_round: int) -> list[T]:
    """Return them in the other direction in every second round."""
    return list(several)[:: 1 if number_of_round % 2 == 0 else -1]


def _microseconds(known: Scripts, operation: str, text: bytes, seconds: float) -> float:
    several = known.of(operation)
    with as_the_server_collects_garbage():
        return microseconds(lambda: answer(several, object=orjson.Fragment(text)), seconds, _processor_time)


def _processor_time() -> float:
    """Return the seconds of this process and of those that run scripts for it."""
    theirs = (Path(f"/proc/{pid}/schedstat").read_text().split()[0] for pid in WORKERS.processes)
    return time.process_time() + sum(map(int, theirs)) / 1e9


def _scripts(peers: Peers) -> Scripts:
    (loaded,) = load_customizations(peers.ray_scripts.read_text(), "Karmada's")
    return loaded.scripts


def _place(server: Server | None, field: Field) -> dict[str, object]:
    if server is None:
        return {}
    authority = base64.b64encode(field.bay.authority).decode()
    return {"service": SERVICE, "port": server.port, "path": server.path, "authority": authority}
