"""What a scripted answer costs compared with Karmada's Lua VM: processor time on the same objects, in one run.

And what an exported script costs there, compared with the one that Karmada bundles for the same question.
"""

import gc
import os
import platform
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.metadata import version

import orjson

from karta_interpreter.base.errors import ExportError
from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.sources.files import find_in_catalogue
from karta_interpreter.engine.operations import Operation
from karta_interpreter.export.customization import script_of
from karta_interpreter.languages.lua.script import Script
from tests.proofs.benchmarks.setting import processor
from tests.proofs.conformance import ours
from tests.proofs.conformance.bundle import Bundled
from tests.proofs.conformance.peer import Peer
from tests.proofs.conformance.question import Question
from tests.support.bodies import as_stored, ray_cluster, request_body
from tests.webhook.process.processes import descendants

_SIZES = {"5 KB": 5 * 1024, "20 KB": 20 * 1024, "100 KB": 100 * 1024}
_ROUNDS = 5
_SECONDS = 0.6
_ROUNDS_OF_EXPORTED = 5
_SECONDS_OF_EXPORTED = 0.1
_COPIES = 16
_STORED = "Karmada's own cases, with `managedFields`, labels and annotations as objects have them on API servers:"
_BARE = "The same cases as they are, without what API servers add:"
_CLOCK_OF_PROCESS = 2  # CPUCLOCK_SCHED of Linux' include/linux/posix-timers.h


def benchmark(peer: Peer, bundle: list[Bundled]) -> str:
    """Give a Markdown table of processor time per call; each figure is the median of interleaved rounds."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)  # as the server does (interpreter/karta_interpreter/webhook/process/signals.py)
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
        f"{processor()}, {platform.system()}, CPython {platform.python_version()}, lupa {version('lupa')}; "
        f"median of {_ROUNDS} rounds of {_SECONDS} s of processor time."
    )
    heads = ["| function | object | Karmada, µs | here, µs | ratio |", "|---|---|---|---|---|"]
    return "\n".join([setting, "", *heads, *rows, ""])


def benchmark_exported(peer: Peer, bundle: list[Bundled]) -> str:
    """Give Markdown tables of the processor time of exported scripts compared with those that Karmada bundles.

    The first is about RayClusters of several sizes, the others about the first case of each bundled script: with its
    objects as API servers store them, and as the case has them, which is without all that servers add.
    """
    heads = ["| function | object | Karmada's script, µs | exported, µs | ratio |", "|---|---|---|---|---|"]
    stored, bare = (_by_operation(peer, bundle, is_stored=is_stored) for is_stored in (True, False))
    return "\n".join([*heads, *_by_size(peer, bundle), "", _STORED, "", *stored, "", _BARE, "", *bare, ""])


def _by_size(peer: Peer, bundle: list[Bundled]) -> Iterator[str]:
    (bundled,) = (each for each in bundle if each.gvk.kind == "RayCluster")
    entry = find_in_catalogue(bundled.gvk)
    assert entry
    for operation in (Operation.INTERPRET_COMPONENT, Operation.INTERPRET_HEALTH):
        exported = Script(operation, script_of(entry.definition, operation), entry.definition.name)
        for size, length in _SIZES.items():
            cluster = _cluster(length)
            ways = [Question(scripts, cluster) for scripts in (bundled.scripts.of(operation), (exported,))]
            theirs, here = _in_turns(peer, ways)
            yield f"| `{exported.function}` | RayCluster, {size} | {theirs:.0f} | {here:.0f} | {here / theirs:.1f} |"


def _in_turns(peer: Peer, ways: Sequence[Question]) -> list[float]:
    rounds = [[peer.microseconds(way, _SECONDS_OF_EXPORTED) for way in ways] for _ in range(_ROUNDS_OF_EXPORTED)]
    return [statistics.median(each) for each in zip(*rounds, strict=True)]


def _by_operation(peer: Peer, bundle: list[Bundled], *, is_stored: bool) -> list[str]:
    pairs = [(bundled, entry.definition) for bundled in bundle if (entry := find_in_catalogue(bundled.gvk))]
    rows = []
    for operation in Operation:
        measured = [found for pair in pairs if (found := _beside_bundled(peer, operation, *pair, is_stored=is_stored))]
        ratios = sorted((here / theirs, kind) for kind, theirs, here in measured)
        if measured:
            theirs, here = (statistics.median(times) for times in zip(*(each[1:] for each in measured), strict=True))
            ratio, (largest, kind) = statistics.median(each for each, _ in ratios), ratios[-1]
            rows.append(
                f"| {operation} | {len(measured)} | {theirs:.0f} | {here:.0f} | {ratio:.1f} | {largest:.1f} ({kind}) |"
            )
    heads = [
        "| operation | kinds | Karmada's script, µs | exported, µs | median ratio | largest ratio |",
        "|---|---|---|---|---|---|",
    ]
    return [*heads, *rows]


def _beside_bundled(
    peer: Peer, operation: Operation, bundled: Bundled, definition: Definition, *, is_stored: bool
) -> tuple[str, float, float] | None:
    """Measure the first case of a bundled script that both scripts answer; None where there is none."""
    if not (bundled.scripts.of(operation) and definition.answers(operation)):
        return None
    try:
        script = Script(operation, script_of(definition, operation), definition.name)
    except ExportError:
        return None
    for case in bundled.cases:
        if case.question.operation != operation:
            continue
        question = _with_stored_objects(case.question) if is_stored else case.question
        ways = [question, replace(question, scripts=(script,))]
        outcomes = list(peer.answers(ways))  # all of them: an unread answer would be taken for the next one
        if all(each.results is not None for each in outcomes):
            theirs, here = _in_turns(peer, ways)
            return bundled.gvk.kind, theirs, here
    return None


def _with_stored_objects(question: Question) -> Question:
    """Return the question about objects as Karmada reads them from API servers.

    To Retain it shows the template as a Work has it, without what servers add.
    """
    if question.observed is not None:
        return replace(question, observed=as_stored(question.observed, in_member=True))
    in_member = question.operation in (Operation.INTERPRET_STATUS, Operation.INTERPRET_HEALTH)
    return replace(question, object=as_stored(question.object, in_member=in_member))


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
    ours.ask(questions[0])  # the process of the scripts has started then
    processes = [os.getpid(), *descendants(os.getpid())]
    calls, begun = 0, _processor_time(processes)
    while (spent := _processor_time(processes) - begun) < _SECONDS:
        for question in questions:
            ours.ask(question)
        calls += _COPIES
    return 1e6 * spent / calls


def _processor_time(processes: Sequence[int]) -> float:
    """Return the seconds that processes have used so far; Karmada's VM is one of them, and has nothing to do."""
    return sum(time.clock_gettime((~process << 3) | _CLOCK_OF_PROCESS) for process in processes)
