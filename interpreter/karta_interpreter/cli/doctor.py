"""``karta-interpreter doctor``: why Karmada does not get its answers."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from karta_interpreter.cli.describe import one_line
from karta_interpreter.cli.options import FILE, control_plane, output
from karta_interpreter.cli.problem import Problem, UsageProblem
from karta_interpreter.cli.render.document import written
from karta_interpreter.cli.render.table import table
from karta_interpreter.doctor import Level, Result, check_url, examine
from karta_interpreter.findings import count
from karta_interpreter.k8s.values import JSON
from karta_interpreter.sources.api_server import ApiServer

_EXAMPLES = """\b
Examples:
  karta-interpreter doctor --kubeconfig karmada-apiserver.config
  kubectl -n karmada-system port-forward service/karta-interpreter 8443:443 &
  karta-interpreter doctor --url https://localhost:8443
"""


@click.command("doctor", epilog=_EXAMPLES)
@control_plane(FILE)
@click.option(
    "--name",
    default="karta-interpreter",
    show_default=True,
    metavar="NAME",
    help="The ResourceInterpreterWebhookConfiguration to examine.",
)
@click.option("--url", default="", metavar="URL", help="Dial this, such as a forwarded port, not what is registered.")
@output("table", "yaml", "json")
def command(kubeconfig: Path | None, context: str | None, name: str, url: str, output: str) -> None:
    """Find out why Karmada does not get its answers.

    Looks at everything between the registration and the server: what is registered and who comes before it, whether
    the kinds exist, the address as Karmada dials it, certificate, and a call. Only reads, and advises what to do. The
    exit code is 1 when there is a problem.
    """
    objection = check_url(url) if url else ""
    if objection:
        raise UsageProblem(f"error: --url: {objection}")
    results = asyncio.run(_examine(kubeconfig, context, name, url))
    if output == "table":
        click.echo(diagnosis_text(results), nl=False)
        click.echo(summary(results), err=True)
    else:
        click.echo(written(diagnosis_json(results), output), nl=False)
    if any(result.level is Level.PROBLEM for result in results):
        raise SystemExit(Problem.exit_code)


async def _examine(kubeconfig: Path | None, context: str | None, name: str, url: str) -> Sequence[Result]:
    async with ApiServer.of(kubeconfig, context) as api:
        return await examine(api, name=name, url=url)


_COLOURS = {Level.OK: "green", Level.WARNING: "yellow", Level.PROBLEM: "red"}
_HEADER = ("LEVEL", "CHECK", "FOUND")


def diagnosis_text(results: Sequence[Result]) -> str:
    """One line per result, and below it what to do, where something has to be done."""
    return table([row for result in results for row in _rows(result)], header=_HEADER)


def diagnosis_json(results: Sequence[Result]) -> JSON:
    """The results and how many there are of each level, for machines."""
    return {
        "results": [
            {"level": str(result.level), "check": result.check, "found": result.found, "advice": result.advice}
            for result in results
        ],
        "summary": {str(level): _number(results, level) for level in Level},
    }


def summary(results: Sequence[Result]) -> str:
    """How many results there are of each level.

    >>> summary([Result(Level.OK, "call", "fine"), Result(Level.PROBLEM, "tls", "none", "serve HTTPS")])
    '1 ok, 0 warnings, 1 problem'
    """
    counts = (count(_number(results, level), level) for level in (Level.WARNING, Level.PROBLEM))
    return ", ".join([f"{_number(results, Level.OK)} ok", *counts])


def _rows(result: Result) -> Iterator[Sequence[str]]:
    level = click.style(str(result.level), fg=_COLOURS[result.level], bold=result.level is not Level.OK)
    yield level, result.check, one_line(result.found)
    if result.advice:
        yield "", "", f"→ {one_line(result.advice)}"


def _number(results: Sequence[Result], level: Level) -> int:
    return sum(result.level is level for result in results)
