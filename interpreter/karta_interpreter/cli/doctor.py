"""``karta-interpreter doctor``: why Karmada does not get its answers."""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click
from msgspec import structs

from karta_interpreter.base.errors import ClusterError
from karta_interpreter.base.findings import count
from karta_interpreter.cli.definitions import cluster_layer
from karta_interpreter.cli.options import Decimal, ObjectName, control_plane, output
from karta_interpreter.cli.program import Problem
from karta_interpreter.cli.render import one_line, say, table, written
from karta_interpreter.clusters.member import WorkloadSelection
from karta_interpreter.clusters.reports import verify_member
from karta_interpreter.definitions.sources import combine, load_catalogue
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.engine.verification import Question, Verdict
from karta_interpreter.webhook.doctor.result import CheckResult, Level, ok, problem, warning
from karta_interpreter.webhook.doctor.runner import examine
from karta_interpreter.webhook.registration.configuration import KIND, NAME, PATH, parts_of_url

_PAUSE_SECONDS = 2.0
_MOST_VERIFIED = 10

_EXAMPLES = """\b
Examples:
  karta-interpreter doctor --kubeconfig karmada-apiserver.config
  kubectl -n karmada-system port-forward service/karta-interpreter 8443:443 &
  karta-interpreter doctor --url https://localhost:8443
  karta-interpreter doctor --wait 120
  karta-interpreter doctor --context karmada-apiserver --member member1
"""


@click.command("doctor", epilog=_EXAMPLES)
@control_plane
@click.option(
    "--name",
    type=ObjectName(),
    default=NAME,
    show_default=True,
    envvar="KARTA_INTERPRETER_REGISTRATION_NAME",
    show_envvar=True,
    metavar="NAME",
    help=f"The {KIND} to examine.",
)
@click.option(
    "--url",
    type=ObjectName("a URL of https: write https:// before host and port", "|https://.+"),
    default="",
    metavar="URL",
    help="Dial this, such as a forwarded port, not the registered address. The path stays the registered one; "
    f"without a registration it is that of the URL, or {PATH}.",
)
@click.option(
    "--wait",
    type=Decimal(min=0, max=86_400),
    default=0,
    metavar="SECONDS",
    help="Check again until no problem is left, for at most this long.",
)
@click.option("--member", metavar="CONTEXT", help="Then verify ten objects of each kind in this member cluster.")
@output("table", "yaml", "json")
def command(
    *, kubeconfig: Path | None, context: str | None, name: str, url: str, wait: float, member: str | None, output: str
) -> None:
    """Find out why Karmada does not get its answers.

    Checks everything between the registration and the server: the rules and interpreters that come before them, the
    kinds, the address as Karmada dials it, the certificate, and a call. It only reads, and advises what to do. The exit
    code is 1 when there is a problem. With --wait it looks every two seconds, and prints what it found last.
    """
    if url:
        parts_of_url(url)
    results = [*asyncio.run(_examine_until_well(kubeconfig, context, name, url, wait))]
    if member is not None:
        results += asyncio.run(_verify(kubeconfig, context, member))
    if output == "table":
        say(results_table(results), nl=False)
        say(summary(results), err=True)
    else:
        number = Counter(result.level for result in results)
        records = [{**structs.asdict(result), "level": str(result.level)} for result in results]
        document = {"results": records, "summary": {str(level): number[level] for level in Level}}
        say(written(document, output), nl=False)
    if _has_problem(results):
        raise SystemExit(Problem.exit_code)


async def _examine_until_well(
    kubeconfig: Path | None, context: str | None, name: str, url: str, seconds: float
) -> Sequence[CheckResult]:
    until, shown = time.monotonic() + seconds, ""
    while True:
        # A new client each time, because the kubeconfig may be missing.
        async with ApiServer.of(kubeconfig, context) as api:
            results = await examine(api, name=name, url=url)
        if not _has_problem(results) or time.monotonic() >= until:
            return results
        problem = next(result for result in results if result.level is Level.PROBLEM)
        if shown != problem.found:
            say(one_line(f"waiting: {problem.check}: {problem.found}"), err=True)
        shown = problem.found
        await asyncio.sleep(_PAUSE_SECONDS)


async def _verify(kubeconfig: Path | None, context: str | None, member: str) -> list[CheckResult]:
    """Verify a few objects of each kind by the Kartas of the control plane, or else by the catalogue."""
    try:
        async with ApiServer.of(kubeconfig, context) as plane, ApiServer.of(kubeconfig, member) as api:
            snapshot = combine([await cluster_layer(plane), load_catalogue()])
            definitions = [entry.definition for entry in snapshot.entries.values()]
            report = await verify_member(api, definitions, WorkloadSelection(most=_MOST_VERIFIED))
    except ClusterError as error:
        return [problem("member", str(error), "give a context of the member, and the rights of deploy/member")]
    advice = "verify them all with karta-interpreter verify"
    results = [warning("member", problem, advice) for problem in report.problems]
    for cause in report.causes:
        text = f"{cause.objects}: {cause.judgement.question}: {cause.judgement.reason}"
        results.append(problem("member", text, cause.judgement.fix or cause.judgement.field))
    for result in report.results:
        if result.judgement.question is Question.CRD and result.judgement.verdict is Verdict.UNJUDGED:
            found = f"{result.gvk.kind}: {result.judgement.reason}"
            results.append(warning("member", found, "look whether answers depend on it"))
    agreeing = sum(result.judgement.verdict is Verdict.OK for result in report.results)
    number = count(sum(report.objects.values()), "object")
    return [
        *results,
        ok("member", f"{number} of {member} verified, without a difference in {count(agreeing, 'answer')}"),
    ]


def _has_problem(results: Sequence[CheckResult]) -> bool:
    return any(result.level is Level.PROBLEM for result in results)


_COLOURS = {Level.OK: "green", Level.WARNING: "yellow", Level.PROBLEM: "red"}


def results_table(results: Sequence[CheckResult]) -> str:
    """Return one line per result, each with the advice below it."""
    rows = []
    for result in results:
        level = click.style(str(result.level), fg=_COLOURS[result.level], bold=result.level is not Level.OK)
        rows.append((level, result.check, " ".join(result.found.split())))
        if result.advice:
            rows.append(("", "", f"→ {' '.join(result.advice.split())}"))
    return table(rows, header=("LEVEL", "CHECK", "FOUND"))


def summary(results: Sequence[CheckResult]) -> str:
    """Return the number of results of each level."""
    number = Counter(result.level for result in results)
    counts = (count(number[level], level) for level in (Level.WARNING, Level.PROBLEM))
    return ", ".join([f"{number[Level.OK]} ok", *counts])
