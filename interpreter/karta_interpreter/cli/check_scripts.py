"""``karta-interpreter interpret --check``: which scripts of customizations can be run."""

from collections.abc import Sequence

import click

from karta_interpreter.cli.definitions import read_customizations
from karta_interpreter.cli.errors import Problem, UsageProblem
from karta_interpreter.cli.render.check import check_text
from karta_interpreter.cli.render.findings import findings_text
from karta_interpreter.findings import Severity


def check_scripts(paths: Sequence[str]) -> None:
    """Print what karmadactl prints, and all findings on stderr; exit with 1 when one is an error."""
    if not paths:
        raise UsageProblem("error: nothing to check: give customizations with -f")
    customizations = [found for path in paths for found in read_customizations(path)]
    if not customizations:
        raise Problem("error: nothing to check: there is no document in the given files")
    findings = [finding for each in customizations for finding in each.findings]
    click.echo(check_text(customizations), nl=False)
    click.echo(findings_text(findings), err=True, nl=False)
    if any(finding.severity is Severity.ERROR for finding in findings):
        raise SystemExit(Problem.exit_code)
