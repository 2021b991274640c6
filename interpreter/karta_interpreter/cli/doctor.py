"""``karta-interpreter doctor``: why Karmada does not get its answers."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from karta_interpreter.cli.errors import Problem, UsageProblem
from karta_interpreter.cli.render.document import to_json, to_yaml
from karta_interpreter.cli.render.table import count, table
from karta_interpreter.doctor import Level, Result, check_url, examine
from karta_interpreter.k8s.values import JSON
from karta_interpreter.sources.api_server import ApiServer

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)

_EXAMPLES = """\b
Examples:
  karta-interpreter doctor --kubeconfig karmada-apiserver.config
  kubectl -n karmada-system port-forward service/karta-interpreter 8443:443 &
  karta-interpreter doctor --url https://localhost:8443
"""


@click.command("doctor", epilog=_EXAMPLES)
@click.option(
    "--kubeconfig",
    type=_FILE,
    envvar="KARTA_INTERPRETER_KUBECONFIG",
    show_envvar=True,
    metavar="FILE",
    help="Of karmada-apiserver. Default: that of the pod, $KUBECONFIG or ~/.kube/config.",
)
@click.option(
    "--context",
    envvar="KARTA_INTERPRETER_CONTEXT",
    show_envvar=True,
    metavar="NAME",
    help="Context of the kubeconfig; default: its current one.",
)
@click.option(
    "--name",
    default="karta-interpreter",
    show_default=True,
    metavar="NAME",
    help="The ResourceInterpreterWebhookConfiguration to examine.",
)
@click.option("--url", default="", metavar="URL", help="Dial this, such as a forwarded port, not what is registered.")
@click.option(
    "-o",
    "--output",
    type=click.Choice(["table", "yaml", "json"]),
    default="table",
    help="How to print: for people (table) or for programs.",
)
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
        document = diagnosis_json(results)
        click.echo(to_json(document) if output == "json" else to_yaml(document), nl=False)
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
    fine, *others = (_number(results, level) for level in Level)
    counts = (count(number, level) for number, level in zip(others, list(Level)[1:], strict=True))
    return ", ".join([f"{fine} ok", *counts])


def _rows(result: Result) -> Iterator[Sequence[str]]:
    level = click.style(str(result.level), fg=_COLOURS[result.level], bold=result.level is not Level.OK)
    yield level, result.check, _one_line(result.found)
    if result.advice:
        yield "", "", f"→ {_one_line(result.advice)}"


def _number(results: Sequence[Result], level: Level) -> int:
    return sum(result.level is level for result in results)


def _one_line(text: str) -> str:
    """Texts of other programs may have several lines."""
    return " ".join(text.split())
