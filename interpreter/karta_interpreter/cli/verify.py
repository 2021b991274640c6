"""``karta-interpreter verify``: whether the answers about workloads agree with what runs in a member."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

import click

from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s import GVK
from karta_interpreter.cli.definitions import check_namespaces, chosen, served_definitions, with_cluster
from karta_interpreter.cli.options import (
    FOLDER,
    MemberOptions,
    OutputFolder,
    inputs,
    kind_option,
    member_cluster,
    output,
)
from karta_interpreter.cli.program import Problem, UsageProblem
from karta_interpreter.cli.render import one_line, say, table, written
from karta_interpreter.clusters.member import WorkloadSelection
from karta_interpreter.clusters.reports import verify_folder, verify_member
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.engine.verification import Judgement, Verdict
from karta_interpreter.engine.verification.judgement import NO_PODS
from karta_interpreter.engine.verification.report import Report

_COLOURS: Final = {Verdict.OK: "green", Verdict.DIFFERS: "red", Verdict.UNJUDGED: "yellow"}


def report_text(report: Report, *, fail_only: bool) -> str:
    """Return a line for each result, then the causes of differences, then the totals of each kind."""
    rows, kinds, texts = list[Sequence[str]](), list[Sequence[str]](), list[str]()
    without_pods = dict[GVK, Counter[str]]()
    for gvk, name, judgement in report.results:
        if judgement.reason == NO_PODS and not fail_only:
            without_pods.setdefault(gvk, Counter())[name] += 1
        elif not fail_only or judgement.verdict is Verdict.DIFFERS:
            verdict = click.style(str(judgement.verdict), fg=_COLOURS[judgement.verdict])
            rows.append((gvk.kind, name or "-", str(judgement.question), verdict, _why(judgement)))
    for gvk, names in without_pods.items():
        verdict = click.style(str(Verdict.UNJUDGED), fg=_COLOURS[Verdict.UNJUDGED])
        rows.append((gvk.kind, count(len(names), "object"), "questions about pods", verdict, NO_PODS))
    if rows:
        texts.append(table(rows, header=("KIND", "OBJECT", "OPERATION", "RESULT", "WHY")))
    if causes := causes_text(report):
        texts.append(causes)
    for gvk, number in report.objects.items():
        totals = [str(report.totals[gvk][verdict]) for verdict in Verdict]
        kinds.append((gvk.kind, gvk.api_version, str(number), *totals))
    if kinds:
        header = ("KIND", "APIVERSION", "OBJECTS", *map(str.upper, Verdict))
        texts.append(table(kinds, header=header))
    return "\n".join(texts)


def causes_text(report: Report) -> str:
    """Return each cause of differences, with the field of the definition and how to correct it."""
    text = ""
    for cause in report.causes:
        judgement = cause.judgement
        reason = " ".join(judgement.reason.split())
        text += f"{click.style(cause.objects, bold=True)}: {judgement.question}: {reason}\n"
        if judgement.field:
            text += f"    {judgement.field}\n"
        if judgement.fix:
            text += f"    → {judgement.fix}\n"
    return text


def _why(judgement: Judgement) -> str:
    """Return the reason, or for a difference only what its cause does not say."""
    if judgement.verdict is Verdict.DIFFERS and judgement.detail:
        return judgement.detail
    return ": ".join(filter(None, (judgement.reason, judgement.detail)))


_EXAMPLES = """\b
Examples:
  karta-interpreter verify --context member1 -A
  karta-interpreter verify --context member1 -n ml --object rayjob/demo -f rayjob-karta.yaml
  karta-interpreter verify --context member1 -A --save evidence
  karta-interpreter verify evidence --fail-only
"""


@click.command("verify", epilog=_EXAMPLES)
@click.argument("folder", required=False, type=FOLDER)
@member_cluster
@inputs("-f", "--filename", "--karta", "filenames", text="Definitions and customizations instead of the catalogue")
@kind_option("--kinds", "--kind", "kinds", help="Only this kind; may be repeated.")
@click.option("--object", "obj", default="", metavar="KIND/NAME", help="Only this object.")
@click.option("--save", "save_to", type=OutputFolder(), metavar="FOLDER", help="Save what the member shows.")
@click.option("--fail-only", is_flag=True, help="Show only differences.")
@output("table", "json", "yaml")
def command(  # noqa: PLR0913 - one for each option
    *,
    folder: Path | None,
    filenames: tuple[str, ...],
    kinds: tuple[str, ...],
    obj: str,
    save_to: Path | None,
    fail_only: bool,
    output: str,
    member: MemberOptions,
) -> None:
    """Compare the answers about workloads with what runs in a member cluster.

    For every object that has a definition and no controller above it: the pods by component, what they request after
    admission, their readiness, what they refer to, the managers of fields, and the CRD. It only reads, and no Secrets.
    FOLDER is one that --save wrote, instead of a cluster. The exit code is 1 when an answer differs, or when something
    could not be read.
    """
    kind, slash, name = obj.partition("/")
    if obj and not (kind and slash and name):
        raise UsageProblem(f"error: --object: {obj} is not KIND/NAME, such as rayjob/demo")
    if folder and (member.kubeconfig or member.context or save_to):
        raise UsageProblem(
            "error: FOLDER, what --save wrote, stands for a member: leave it or --kubeconfig, --context and --save out"
        )
    check_namespaces(member)
    selection = WorkloadSelection(member.namespace, kind, name)
    served = served_definitions(filenames)
    definitions = [entry.definition for entry in chosen(served, (kind,) if kind else kinds)]
    if folder:
        report = verify_folder(folder, definitions, selection)
        place = f"namespace {member.namespace} of {folder}" if member.namespace else str(folder)
    else:
        read = partial(
            _read, definitions=definitions, selection=selection, folder=save_to, all_namespaces=member.all_namespaces
        )
        report, place = with_cluster(member.kubeconfig, member.context, read)
    if not (report.results or report.problems):
        named = f"{kind} {name}".strip() or "object of a kind with a definition"
        report = Report((), (f"in {place} there is no {named}",))
    say(report_text(report, fail_only=fail_only) if output == "table" else written(report.to_json(), output), nl=False)
    say(summary(report), err=True)
    raise SystemExit(int(report.differs or bool(report.problems) or not report.results))


async def _read(
    api: ApiServer,
    *,
    definitions: Sequence[Definition],
    selection: WorkloadSelection,
    folder: Path | None,
    all_namespaces: bool,
) -> tuple[Report, str]:
    selection, place = await selection.within(api, all_namespaces=all_namespaces)
    try:
        report = await verify_member(api, definitions, selection, folder)
    except OSError as error:  # of the folder that it is saved to
        raise Problem(f"error: {folder} cannot be written: {error.strerror}; name a folder") from error
    return report, place


def summary(report: Report) -> str:
    """Return the problems of reading, a line each, and the number of results."""
    totals = sum(report.totals.values(), Counter[Verdict]())
    objects = f"{count(sum(report.objects.values()), 'object')} of {count(len(report.objects), 'kind')}"
    numbers = ", ".join(f"{totals[verdict]} {verdict}" for verdict in Verdict)
    if not report.results:
        numbers += "; --context, -n, -A, --kinds and --object choose others"
    return "".join(f"warning: {one_line(problem)}\n" for problem in report.problems) + f"{objects}: {numbers}"
