"""What Karmada itself spends: on its own Lua for the kinds that it bundles, and on calls of this server about them."""

import base64
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from statistics import median
from typing import Any, Final

from karta_interpreter.languages.lua.customization import load_customizations
from tests.proofs.benchmarks.day import by_operation, gvk_of, operation_of, recorded
from tests.proofs.benchmarks.field import Field
from tests.proofs.benchmarks.program import MeasurementError, Program
from tests.proofs.benchmarks.report import Part, number, table
from tests.proofs.benchmarks.rounds import Effort, sampled
from tests.proofs.benchmarks.servers import SERVICE

_BUNDLE: Final = "pkg/resourceinterpreter/default/thirdparty/resourcecustomizations"
_OBJECTS: Final = 5_000
_SHARE: Final = 10
"""A tenth of the calls of a round: Lua takes milliseconds."""
_HEADS: Final = (
    "calls",
    "errors of Lua",
    "Lua in Karmada, CPU µs",
    "ms per call",
    "this server: Karmada's CPU µs",
    "its own CPU µs",
    "ms per call",
    "Lua, times both",
)


def karmada(field: Field, effort: Effort) -> Part:
    """Measure the calls that Karmada can answer by its bundled scripts, mixed and by operation."""
    calls = list(_scripted(field.programs.source / _BUNDLE))
    rows = []
    with Program(field.programs.client) as lua, Program(field.programs.client) as client:
        for name, several in {"as the day mixes them": calls, **by_operation(calls)}.items():
            rounds = []
            for number_of_round in range(effort.rounds):
                with sampled(several, _OBJECTS, max(effort.calls // _SHARE, 8), number_of_round) as files:
                    rounds.append(_measured(field, lua, client, files))
            failed, theirs, waited, around, ours, call = (median(figures) for figures in zip(*rounds, strict=True))
            ratio = f"{theirs / (around + ours):.1f}"
            rows.append(
                (
                    name,
                    f"{failed:.1f} %",
                    number(theirs),
                    f"{waited:.2f}",
                    number(around),
                    number(ours),
                    f"{call:.2f}",
                    ratio,
                )
            )
    kinds = len({gvk_of(call) for call in calls})
    _, _, theirs_, waited_, around_, ours_, call_, _ = rows[0]
    said = (
        f"Karmada's own Lua needs **{theirs_} µs** of Karmada's processor time for a call about one of the {kinds} "
        f"kinds of the day that it bundles, and {waited_} ms pass. To ask this server needs **{around_} µs** of it and "
        f"{call_} ms, and {ours_} µs of the server's processor time."
    )
    asked = (
        f"  To ask costs Karmada itself **{around_} µs** of processor time and {call_} ms,\n"
        f"  where its own Lua costs **{theirs_} µs** and {waited_} ms.\n"
    )
    return Part({"karmada": table(_HEADS, rows), "asked": asked}, conclusions=(said,))


def _measured(field: Field, lua: Program, client: Program, files: list[Path]) -> tuple[float, ...]:
    """Return the percentage of Lua's errors, and what a call costs.

    That is Lua's processor time and duration, then Karmada's, this server's, and the duration.
    """
    bodies = [str(file) for file in files]
    scripted = lua.ask(bodies=bodies)
    server = field.ours
    place = {"service": SERVICE, "port": server.port, "path": server.path}
    before = server.cpu()
    called = client.ask(bodies=bodies, authority=base64.b64encode(field.bay.authority).decode(), **place)
    ours = 1e6 * (server.cpu() - before) / len(files)
    if called["failed"]:
        raise MeasurementError(f"{called['failed']} calls of this server have failed, see above")
    failed = 100 * scripted["failed"] / len(files)
    return failed, scripted["processor"], scripted["milliseconds"], called["processor"], ours, called["milliseconds"]


def _scripted(bundle: Path) -> Iterator[bytes]:
    """Yield the calls of the day that a bundled script answers."""

    @lru_cache
    def scripts(group: str, version: str, kind: str) -> Any:
        file = bundle / group / version / kind / "customizations.yaml"
        loaded = load_customizations(file.read_text(), "Karmada's") if file.exists() else ()
        return next((one.scripts for one in loaded), None)

    for call in recorded():
        known = scripts(*gvk_of(call))
        if known and known.of(operation_of(call)):
            yield call
