"""``python -m tests.proofs.conformance.thirdparty``: definitions as Karmada keeps its third-party interpreters.

Each kind gets a folder GROUP/VERSION/KIND with customizations.yaml and testdata, for a pull request to Karmada. Suites
are in the folder testdata next to the file of a definition. Cases that a folder has already stay where the scripts pass
them. Operations and cases that are dropped, or that Karmada's folder cannot hold, are named with the reason.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Self

import click

from karta_interpreter.base.errors import ExportError, InterpretationError
from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s import GVK, Object, edit
from karta_interpreter.cli.definitions import definitions_named
from karta_interpreter.cli.export import exported_safely
from karta_interpreter.cli.files import read_object, write_files
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.engine.operations import SLOTS, Operation
from karta_interpreter.engine.registered.operations import operations_for
from karta_interpreter.engine.suites.suite import Case, find_suites, home_of, load_suite, scan_suite
from tests.proofs.conformance.thirdparty.folder import folder_of, third_party

_NO_SCRIPT = "the exported customization has no script for it"


@click.command()
@click.argument("kinds", nargs=-1, metavar="[KIND...]")
@click.option("-f", "--filename", "paths", multiple=True, metavar="PATH", help="Definitions.")
@click.option("--output-dir", type=click.Path(path_type=Path), required=True, metavar="DIR")
def command(*, kinds: tuple[str, ...], paths: tuple[str, ...], output_dir: Path) -> None:
    """Write definitions and their suites into Karmada's folder resourcecustomizations, or a new one."""
    files: dict[str, str] = {}
    told: dict[str, str] = {}
    suites: list[Path] = []
    folders = cases = rejected = 0
    for each in definitions_named(kinds, paths):
        try:
            folder = output_dir / folder_of(each.gvk)
            exported = exported_safely(each, _in_both_states(each))
            rejected += len(exported.rejected)
            told |= {f"{each.gvk}, {operation}": reason for operation, reason in exported.rejected.items()}
            if exported.customization is None:
                continue
            present = _Present.read(folder)
            found = third_party(each.gvk, exported.customization, [*_cases(each), *present.cases])
        except ExportError as error:
            rejected += 1
            told[str(each.gvk)] = str(error)
        else:
            files |= found.files
            reasons = {**found.left_out, **present.replaced(exported.customization)}
            told |= {f"{each.gvk}, {case}": present.worded(case, reason) for case, reason in reasons.items()}
            suites += present.suites
            folders, cases = folders + 1, cases + found.cases
    write_files(output_dir, files)
    for suite in {*suites} - {output_dir / name for name in files}:
        suite.unlink()
    for subject, reason in told.items():
        click.echo(f"{subject}: {reason}", err=True)
    click.echo(f"{count(folders, 'folder')}, {count(cases, 'case')}; {rejected} rejected", err=True)
    if rejected and (kinds or paths):
        raise SystemExit(1)


def _in_both_states(definition: Definition) -> list[Operation]:
    """Return the operations of a customization that Karmada has in both states of the gate.

    It asks for replicas while it asks for no components.
    """
    operations = {*operations_for(definition, multiple_pod_templates=True)}
    if Operation.INTERPRET_COMPONENT in operations and definition.answers(Operation.INTERPRET_REPLICA):
        operations.add(Operation.INTERPRET_REPLICA)
    return [operation for operation in Operation if operation in operations]


class _Present(NamedTuple):
    """The content of a kind's folder in Karmada's tree: the scripts, the files of its suites, and their cases."""

    scripts: Mapping[str, object]
    suites: Sequence[Path]
    cases: Sequence[Case]
    unreadable: Mapping[str, str]

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read a folder. A folder without a customization is not part of the tree, and its content stays."""
        file = folder / "customizations.yaml"
        if not file.is_file():
            return cls({}, (), (), {})
        scripts = edit.get(read_object(str(file)), ("spec", "customizations"))
        suites = find_suites(folder)
        cases = [case for suite in suites for case in scan_suite(suite)]
        return cls(
            scripts if isinstance(scripts, dict) else {},
            suites,
            [case for case in cases if isinstance(case, Case)],
            {f"case {at}": str(case) for at, case in enumerate(cases) if not isinstance(case, Case)},
        )

    def replaced(self, customization: Object) -> Mapping[str, str]:
        """Return the names missing from the new folder before any case is asked, with reasons."""
        gone = self.scripts.keys() - customization["spec"]["customizations"].keys()
        scripts = {f"{each}, script": _NO_SCRIPT for each, slot in SLOTS.items() if slot.field in gone}
        return {**self.unreadable, **scripts}

    def worded(self, case: str, reason: str) -> str:
        """Return a reason, marked as dropped if the case was in the folder, or else as left out."""
        names = {f"{each.call.operation}: {each.name}" for each in self.cases}
        is_there = case in names or case in self.unreadable or reason == _NO_SCRIPT
        return f"{'dropped' if is_there else 'left out'}: {reason}"


def _cases(definition: Definition) -> list[Case]:
    """Return the cases about a definition in the suites next to its file, or none without a file."""
    file = Path(definition.source)
    if not file.is_file():
        return []
    suites = [suite for suite in find_suites(file.parent) if home_of(suite) == file.parent]
    return [case for suite in suites for case in load_suite(suite) if _is_about(case, definition.gvk)]


def _is_about(case: Case, gvk: GVK) -> bool:
    try:
        return GVK.of(case.call.object) == gvk
    except InterpretationError:  # an object without a kind
        return False


if __name__ == "__main__":
    command()
