"""Folders of third-party interpreters, written from the catalogue, in Karmada's own test of its folder."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from click.testing import CliRunner

from karta_interpreter.cli.program import program

_LEAST_CASES = 2000
_TEST = "TestThirdPartyCustomizationsFile"
_VERDICT = re.compile(rf"^    --- (PASS|FAIL): {_TEST}/(.*) \(", re.MULTILINE)
_NEXT_TEST = "=== RUN"


@dataclass(frozen=True, slots=True)
class Tally:
    """What was written, and what Karmada's test found; ``failed`` has its words about each failed case."""

    written: str
    passed: int
    failed: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.written}; Karmada's test passes {self.passed} cases and fails {len(self.failed)}"

    def failures(self) -> Iterator[str]:
        """Yield the failed cases, and whether there were too few."""
        yield from self.failed
        if self.passed < _LEAST_CASES:
            yield f"Karmada's test ran {self.passed} cases, fewer than {_LEAST_CASES}"


def compare(test: Path) -> Tally:
    """Export the whole catalogue and run Karmada's test on it."""
    with TemporaryDirectory() as place:
        folder = Path(place, "resourcecustomizations")
        exported = CliRunner().invoke(
            program, ["export", "karmada-thirdparty", "--output-dir", str(folder)], catch_exceptions=False
        )
        done = subprocess.run(
            [test, "-test.v", "-test.run", f"^{_TEST}$"], cwd=place, capture_output=True, text=True, check=False
        )
    written = exported.stderr.splitlines()[-1]
    verdicts = [match[1] for match in _VERDICT.finditer(done.stdout)]
    failed = tuple(block.strip() for block in done.stdout.split(_NEXT_TEST) if "Unexpected result" in block)
    if done.returncode and not failed:
        failed = (f"{done.stdout[-2000:]}{done.stderr[-2000:]}",)
    return Tally(written, verdicts.count("PASS"), failed)
