"""Where attacks happen: one server that is attacked, an idle control of the same build, and a prober that asks both."""

import asyncio
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.proofs.audit import turns
from tests.proofs.audit.attack import ENDED_EARLY, Attack, Door, Effort, Target
from tests.proofs.audit.bounds import AFTER
from tests.proofs.audit.container import MEMORY, container
from tests.proofs.audit.found import FLOOR, Found, Waits
from tests.proofs.audit.plane import running
from tests.proofs.audit.prober import ATTACKED, CONTROL, Probe, Prober, trusting_anybody
from tests.proofs.benchmarks.servers import Bay, Server, cores, serving, serving_types
from tests.proofs.rig.processes import free_port
from tests.support import bounds as other_bounds
from tests.webhook.process.client import get, post, question, trusting
from tests.webhook.process.conversations import suite_cases

INNOCENT: Final = Path(__file__).parent / "kartas"
_CALLS_EVERY, _HEALTH_EVERY, _PAUSE = 0.05, 0.25, 0.1
# As the chart's liveness probe has it.
_HEALTH_TIMEOUT = 5.0
_EVERY_CASE, _BOUNDED, _CLIENTS = 6, 2, 64
_SETTLING = 40.0
"""Seconds in which a server ends its child processes that nobody asks, and gives their memory back."""
_TOKEN: Final = "a-token-of-the-audit-0123456789"  # noqa: S105 - of this run


@dataclass
class Trial:
    """One attack that has ended, whose server settles; ``ending`` stops it."""

    title: str
    name: str
    found: Found
    waits: Mapping[str, tuple[Waits, Waits]]
    peak: float
    target: Target
    before: float
    until: float
    ending: ExitStack

    def settle(self) -> bool:
        """Return whether the server has settled, or has had its time; then it is stopped, and `found` is complete."""
        ratio = self.target.memory() / self.before
        if ratio > AFTER and time.monotonic() < self.until:
            return False
        self.found = self.found.with_figures({"memory after": ratio})
        self.ending.close()
        return True


class Stage:
    """Starts servers; the control runs for as long as the stage is there."""

    def __init__(self, folder: Path, effort: Effort, *, metered: bool = False) -> None:
        self._folder = folder
        self._effort = effort
        self.metered = metered
        """Whether servers run on a loop that measures its turns."""
        self._bay = Bay(folder)
        self._number = 0

    @contextmanager
    def server(
        self,
        name: str,
        *options: str | Path,
        begin: Sequence[str] = (),
        self_signed: bool = False,
        bounds: Mapping[str, float] | None = None,
    ) -> Iterator[tuple[Server, int]]:
        """Run a server with the innocent definitions and more options; gives it, and the port of its health.

        ``begin`` is the start of its command line, ``bounds`` are what no option sets.
        """
        port = free_port()
        files = () if self_signed else self._bay.files
        given = (*files, "--kartas", INNOCENT, *options, "--health-port", str(port))
        meter = ("-m", turns.__name__, str(self._turns_of(name))) if self.metered else ()
        bounded = ("-m", other_bounds.__name__, json.dumps(bounds)) if bounds else ()
        with serving(name, (*begin, sys.executable, *meter, *bounded), *given, on=cores()) as server:
            yield server, port

    def _turns_of(self, name: str) -> Path:
        return self._folder / f"turns-{name}"

    def measure(self, title: str, name: str, attack: Attack, control: tuple[Server, int]) -> Trial:
        """Attack a new server; the result has all but what is known when the server has settled."""
        self._number += 1
        folder = self._folder / f"{self._number}-{name}" / "given"
        folder.mkdir(parents=True)
        with ExitStack() as ending:
            # asyncio's own loop needs more memory for each connection: 2,000 do not fit into a small container.
            is_contained = attack.contained and not self.metered
            cgroup = ending.enter_context(container(str(self._number))) if is_contained else None
            around = tuple(attack.begin(folder)) if attack.begin else ()
            begin = (*(cgroup.entered if cgroup else ()), *around)
            types = ending.enter_context(_types(f"{name}-types", attack, folder, around)) if attack.types else None
            control_plane = attack.collections and running(folder.parent, attack.collections)
            plane = ending.enter_context(control_plane) if control_plane else None
            options = (*attack.prepare(folder), *(("--kartas", _stored(folder)) if types else ()))
            options = (*options, *(("--cluster", "--kubeconfig", plane.kubeconfig) if plane else ()))
            starting = self.server(name, *options, begin=begin, self_signed=attack.self_signed, bounds=attack.bounds)
            attacked = ending.enter_context(starting)
            server = attacked[0]
            trust = trusting_anybody() if attack.self_signed else trusting(self._bay.authority)
            doors = {"webhook": Door(server.port, trust)}
            if types:
                doors["types"] = Door(types.port, token=_TOKEN)
            target = Target(server, control[0], types, doors, folder, self._effort, plane=plane)
            asyncio.run(_warm_up(attack, target))
            with Prober(self._probes(attack, attacked, control)) as prober:
                before = target.memory()
                file = self._turns_of(name)
                known = file.stat().st_size if file.exists() else 0
                found = asyncio.run(_run(attack, target))
            figures = _figures(prober.waits, target) | {"MiB taken": target.peak - before}
            if self.metered:
                figures["turn"] = turns.dearest(file, known)
            if is_contained:
                figures["killed"] = float(cgroup.kills() if cgroup else target.peak > MEMORY)
            found, until = found.with_figures(figures), time.monotonic() + _SETTLING
            return Trial(title, name, found, prober.waits, target.peak, target, before, until, ending.pop_all())

    def _probes(self, attack: Attack, attacked: tuple[Server, int], control: tuple[Server, int]) -> list[Probe]:
        ports = {ATTACKED: attacked[0].port, CONTROL: control[0].port}
        health = {ATTACKED: attacked[1], CONTROL: control[1]}
        call, bounded = (post(question(kind)).decode() for kind in ("GrainMill", "Sieve"))
        good = '"successful":true'
        probes = [
            Probe("call", ports, call, good, _CALLS_EVERY),
            Probe(
                "health",
                health,
                get("/healthz").decode(),
                "",
                _HEALTH_EVERY,
                fresh=True,
                tls=False,
                timeout=_HEALTH_TIMEOUT,
            ),
        ]
        return [*probes, Probe("bounded", ports, bounded, good, _CALLS_EVERY)] if attack.probes_bounded else probes


def _stored(folder: Path) -> Path:
    return folder.with_name("types")


@contextmanager
def _types(name: str, attack: Attack, folder: Path, begin: Sequence[str]) -> Iterator[Server]:
    """Run a workload types API in a folder with the types of an attack."""
    stored, tokens = _stored(folder), folder.with_name("tokens")
    stored.mkdir()
    if attack.types:
        attack.types(stored)
    tokens.write_text(f"{_TOKEN} audit\n")
    python = *begin, sys.executable, "-m", other_bounds.__name__, json.dumps({"rate": attack.rate})
    options = "--types-folder", stored, "--types-token-file", tokens
    with serving_types(name, python, *options, on=cores()) as server:
        yield server


async def _warm_up(attack: Attack, target: Target) -> None:
    """Ask what a server gets that has run for a while, so that its memory is that of such a server."""
    cases = suite_cases()[:: 1 if attack.all_cases else _EVERY_CASE]
    calls = [post(case.body) for case in cases] + [post(question("Sieve"))] * _BOUNDED
    await target.flood(calls, _CLIENTS, _SETTLING)
    target.answers.clear()


async def _run(attack: Attack, target: Target) -> Found:
    """Run an attack; one whose server does not answer any more ends early, which is a figure."""
    async with target.sampled():
        try:
            return await attack.run(target)
        except* (OSError, EOFError):
            target.answers[ENDED_EARLY] += 1
    return target.found()


def _figures(waits: Mapping[str, tuple[Waits, Waits]], target: Target) -> dict[str, float]:
    """Return the figures that every attack has: `NAME wait`, `NAME p99` and `NAME lost` for each probe, `memory`."""
    figures = {"memory": target.peak / target.control.memory(), "killed": 0.0}
    for kind in ("code 500", "HTTP 500", ENDED_EARLY):
        figures[kind] = float(target.answers[kind])
    for name, (attacked, control) in waits.items():
        figures[f"{name} wait"] = attacked.over(control)
        figures[f"{name} p99"] = attacked.p99 / max(control.p99, FLOOR)
        figures[f"{name} lost"] = float(attacked.lost)
    return figures
