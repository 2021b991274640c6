"""Folders of third-party interpreters, written from the catalogue, in Karmada's own test of its folder."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfile, copytree
from tempfile import TemporaryDirectory

from click.testing import CliRunner

from tests.proofs.conformance.thirdparty.__main__ import command

_LEAST_CASES = 2000
_TREE = Path("pkg/resourceinterpreter/default/thirdparty/resourcecustomizations")
_TEST = "TestThirdPartyCustomizationsFile"
_VERDICT = re.compile(rf"^    --- (PASS|FAIL): {_TEST}/(.*) \(", re.MULTILINE)
_BROKEN = re.compile(": left out: the script (fails|answers otherwise)")
_REFUSES_NONE = "Karmada has given the cluster no replicas"
"""A script refuses 0 replicas, as the server does without a flag. A suite asks past that guard."""
_NEXT_TEST = "=== RUN"


@dataclass(frozen=True, slots=True)
class Tally:
    """What was written, and what Karmada's test found; ``failed`` has its words about each failed case."""

    dropped: tuple[str, ...]
    written: str
    passed: int
    failed: tuple[str, ...]

    def __str__(self) -> str:
        summary = f"{self.written}; Karmada's test passes {self.passed} cases and fails {len(self.failed)}"
        return "\n".join([*self.dropped, summary])

    def failures(self) -> Iterator[str]:
        """Yield the failed cases, those of the catalogue that its own scripts fail, and whether there were too few."""
        yield from self.failed
        yield from (line for line in self.dropped if _BROKEN.search(line) and _REFUSES_NONE not in line)
        if self.passed < _LEAST_CASES:
            yield f"Karmada's test ran {self.passed} cases, fewer than {_LEAST_CASES}"


def compare(test: Path, source: Path) -> Tally:
    """Export the whole catalogue over a copy of the tree in Karmada's source, and run Karmada's test on it."""
    with TemporaryDirectory() as place:
        folder = Path(place, _TREE.name)
        copytree(source / _TREE, folder, copy_function=copyfile)  # the module's own files cannot be written
        exported = CliRunner().invoke(command, ["--output-dir", str(folder)], catch_exceptions=False)
        done = subprocess.run(
            [test, "-test.v", "-test.run", f"^{_TEST}$"], cwd=place, capture_output=True, text=True, check=False
        )
    *dropped, written = exported.stderr.splitlines()
    verdicts = [match[1] for match in _VERDICT.finditer(done.stdout)]
    failed = tuple(block.strip() for block in done.stdout.split(_NEXT_TEST) if "Unexpected result" in block)
    if done.returncode and not failed:
        failed = (f"{done.stdout[-2000:]}{done.stderr[-2000:]}",)
    return Tally(tuple(dropped), written, verdicts.count("PASS"), failed)
