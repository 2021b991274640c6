"""``karta-interpreter replay``: which recorded answers other definitions would change."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import click

from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s import GVK, JSON
from karta_interpreter.cli.changes import difference_lines, differences_json, print_changes
from karta_interpreter.cli.explain import show
from karta_interpreter.cli.files import check_stdin
from karta_interpreter.cli.options import FOLDER, FULL, complete_kinds_and_files, kind_option, output
from karta_interpreter.cli.program import Problem
from karta_interpreter.cli.render import table, watched, written
from karta_interpreter.cli.replay_calls import ChangeGroup, Findings, Key, Replay, recorded_calls
from karta_interpreter.cli.sides import CATALOGUE, Side
from karta_interpreter.cli.writing import one_line, say
from karta_interpreter.definitions.sources.snapshot import Selection
from karta_interpreter.webhook.wire import Request
from karta_interpreter.webhook.wire.recording import RecordedCall, files_in
from karta_interpreter.webhook.wire.request import request_of

_EXAMPLES = """\b
Examples:
  karta-interpreter replay recordings/
  karta-interpreter replay recordings/ --to my-raycluster.yaml
  karta-interpreter replay recordings/ --from old-catalogue.yaml --to catalogue --to my/ --kinds RayCluster
  karta-interpreter replay recordings/ --explain 3f1d8f0e-6a0b-4f4e-9c1d-000000000001
"""
_SIDE = 'a file or folder of definitions, a kind of the catalogue, or "catalogue"; may be repeated.'
_FROM = f"What answered before: {_SIDE} Default: the recorded answers."
_TO = f"What answers now: {_SIDE}"
_KINDS = 'Replay only calls about this kind: KIND, apiVersion/KIND or "apiVersion/*"; may be repeated.'
_EXPLAIN = "Explain the answer to the request with this uid."


_side = partial(click.option, multiple=True, metavar="SIDE", shell_complete=complete_kinds_and_files)


@click.command("replay", epilog=_EXAMPLES)
@click.argument("folder", type=FOLDER)
@_side("--from", "before", help=_FROM)
@_side("--to", default=[CATALOGUE], show_default=CATALOGUE, help=_TO)
@kind_option("--kinds", help=_KINDS)
@click.option("--explain", "uid", metavar="UID", help=_EXPLAIN)
@FULL
@output("table", "json")
def command(
    folder: Path,
    before: tuple[str, ...],
    to: tuple[str, ...],
    kinds: tuple[str, ...],
    uid: str | None,
    output: str,
    *,
    full: bool,
) -> None:
    """Ask recorded questions again and show which answers change.

    FOLDER has recordings of `serve --record`. With --from, both sides answer the same questions, so values that a
    recording leaves out cannot make a difference. With several files and folders, they take precedence in their order,
    and the catalogue comes last, as `serve` has them. Answers that differ are grouped by kind, operation and cause: the
    expressions or annotations of the new definition that cause the differences. Two errors count as equal.
    Unreadable recordings are counted and named. The exit code is 1 when an answer differs.
    """
    check_stdin([*before, *to])
    files = files_in(folder)
    if not files:
        raise Problem(f"error: {folder}: there is no recording of calls in it")
    sides = Side(before) if before else None, Side(to)
    if uid is not None:
        _explain(files, uid, sides, output, full=full)
        return
    replay = Replay(*sides, Selection(kinds))
    for file in watched(files, "Replaying"):
        replay.file(file)
    findings = replay.findings
    unknown = [gvk for gvk in sorted({gvk for gvk, _ in findings.asked}) if not sides[1].find(gvk)]
    groups = sorted(findings.groups.items(), key=lambda each: (each[0].gvk, each[0].operation, -each[1].calls))
    text = _table(groups, full=full) if output == "table" else written(_json(groups, findings), output)
    asked = f"{count(findings.asked.total(), 'call')} in {count(len(files), 'file')}"
    print_changes(text, _warnings(findings, kinds, unknown), asked, findings.different)


def _warnings(findings: Findings, kinds: Sequence[str], unknown: Sequence[GVK]) -> Iterator[str]:
    yield from (
        f"--kinds {kind}: no recorded call is about it"
        for kind in kinds
        if not any(Selection((kind,)).takes(gvk) for gvk, _ in findings.asked)
    )
    for gvk in unknown:
        yield f"--to has no definition for {gvk}"
    for reason, times in sorted(findings.left_out.items()):
        yield f"left out{f' {times} times' if times > 1 else ''}: {reason}"


def _table(groups: list[tuple[Key, ChangeGroup]], *, full: bool) -> str:
    if not groups:
        return ""
    rows = [
        [
            f"{key.gvk.api_version} {key.gvk.kind}",
            key.operation,
            f"{group.calls:,}",
            f"{len(group.objects):,}",
            key.cause,
        ]
        for key, group in groups
    ]
    text = table(rows, header=["KIND", "OPERATION", "ANSWERS", "OBJECTS", "CAUSE"])
    return text + "".join(_example(key, group, full=full) for key, group in groups)


def _example(key: Key, group: ChangeGroup, *, full: bool) -> str:
    shown = group.examples[0]
    redacted = "; values were left out of the recording" if shown.redacted else ""
    title = click.style(one_line(f"{key.gvk.kind} {shown.name}: {key.operation}"), bold=True)
    lines = [f"{title} (uid {one_line(shown.uid)}{redacted})", *difference_lines(shown.differences, full=full)]
    return "\n" + "".join(f"{line}\n" for line in lines)


def _json(groups: list[tuple[Key, ChangeGroup]], findings: Findings) -> JSON:
    return {
        "calls": findings.asked.total(),
        "different": findings.different,
        "groups": [
            {
                **key.gvk.type_meta,
                "operation": str(key.operation),
                "cause": key.cause,
                "answers": group.calls,
                "objects": len(group.objects),
                "examples": [
                    {
                        "uid": each.uid,
                        "name": each.name,
                        "redacted": each.redacted,
                        "differences": differences_json(each.differences),
                    }
                    for each in group.examples
                ],
            }
            for key, group in groups
        ],
        "leftOut": dict(findings.left_out),
    }


def _explain(files: list[Path], uid: str, sides: tuple[Side | None, Side], output: str, *, full: bool) -> None:
    recorded, request = _find(files, uid)
    interpreter = sides[1].find(request.gvk) if request.gvk else None
    if request.call is None or interpreter is None:
        raise Problem(f"error: --to has no answer to {uid}: {request.problem or f'no definition for {request.gvk}'}")
    found = Replay(*sides).differences(recorded, request)
    answer = "The answer of --from" if sides[0] else "The recorded answer"
    lines = "\n".join([f"{answer} differs:", *difference_lines(found, full=full)])
    say(lines if found else f"{answer} is the same.", err=True)
    show(
        interpreter,
        [request.call],
        (),
        "text" if output == "table" else output,
        recorded.options,
        strict=False,
    )


def _find(files: list[Path], uid: str) -> tuple[RecordedCall, Request]:
    left_out = Counter[str]()
    for path in files:
        for recorded in recorded_calls(path, left_out):
            if recorded.answer.get("uid") == uid:
                return recorded, request_of(recorded.request)
    reasons = "".join(f"; {reason}" for reason in left_out)
    raise Problem(f"error: there is no request {uid} in the recordings{reasons}")
