"""``python -m tests.proofs.conformance.crds``: this part of the conformance tests alone, and with more CRDs."""

import argparse
import sys
import time
from pathlib import Path

from tests.proofs.conformance.bundle import load_bundle
from tests.proofs.conformance.crds import answered, references, sources, stored, validity
from tests.proofs.conformance.toolchain import build_crds, karmada_source


def main() -> int:
    """Validate, print, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.conformance.crds", description=__doc__)
    parser.add_argument("--more", type=Path, help="a folder with CRDs of kinds whose module cannot be had")
    options = parser.parse_args()
    more = sorted(options.more.glob("*.yaml")) if options.more else []
    files = [*sources.files(), *more]
    program, bundle = build_crds(), load_bundle(karmada_source()[1])
    begun = time.monotonic()
    tallies = (
        references.compare(files),
        answered.compare(program, files),
        stored.compare(program, files, more),
        validity.compare(program, files, bundle),
    )
    failures = [failure for each in tallies for failure in each.failures()]
    sys.stdout.write(
        "\n".join([*map(str, tallies), *failures, f"{len(failures)} failures, {time.monotonic() - begun:.0f} s", ""])
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
