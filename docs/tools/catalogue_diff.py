"""Write into the CHANGELOG what the catalogue answers differently since a git revision: ``make catalogue-diff``."""

import subprocess
import sys
from pathlib import Path

CHANGELOG = Path("CHANGELOG.md")
_BEGIN, _END = "<!-- answers: begin -->", "<!-- answers: end -->"
_UNRELEASED = "## [Unreleased]\n"


def with_answers(changelog: str, revision: str, changes: str) -> str:
    r"""Return the changelog with the changed answers under its unreleased version, in the place of earlier ones.

    >>> before = "## [Unreleased]\n\n## [0.1.0]\n"
    >>> print(with_answers(before, "v0.1.0", "- v1 Pod, Retain: answered now.\n"), end="")
    ## [Unreleased]
    <BLANKLINE>
    <!-- answers: begin -->
    ### Answers of the catalogue since v0.1.0
    - v1 Pod, Retain: answered now.
    <!-- answers: end -->
    <BLANKLINE>
    ## [0.1.0]
    """
    begin, end = changelog.find(_BEGIN), changelog.find(_END)
    if begin >= 0:
        changelog = changelog[:begin].rstrip("\n") + "\n" + changelog[end + len(_END) :]
    text = changes or "No answer differs.\n"
    section = f"\n{_BEGIN}\n### Answers of the catalogue since {revision}\n{text}{_END}\n"
    head, title, rest = changelog.partition(_UNRELEASED)
    if not title:
        raise SystemExit(f"{CHANGELOG}: there is no line {_UNRELEASED.strip()!r} to write below")
    unreleased, mark, older = rest.partition("\n## [")
    return f"{head}{title}{unreleased.rstrip(chr(10)) + chr(10) if unreleased.strip() else ''}{section}{mark}{older}"


def main() -> None:
    """Compare the catalogue of the revision with the one here, on the cases of all suites."""
    if len(sys.argv) != 2 or not sys.argv[1]:  # noqa: PLR2004 - the program and the revision
        raise SystemExit("give the revision to compare with: make catalogue-diff FROM=v0.1.0")
    revision = sys.argv[1]
    command = ["diff", "--from", f"catalogue@{revision}", "--to", "catalogue", "--object", "kartas", "-o", "markdown"]
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "karta_interpreter", *command], stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode not in (0, 1) or (done.returncode and not done.stdout):
        raise SystemExit(done.returncode)
    CHANGELOG.write_text(with_answers(CHANGELOG.read_text(encoding="utf-8"), revision, done.stdout), encoding="utf-8")


if __name__ == "__main__":
    main()
