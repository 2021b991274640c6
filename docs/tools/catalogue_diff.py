"""Write into the CHANGELOG what the catalogue answers differently since a git revision: ``make catalogue-diff``."""

import io
import json
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from docs.tools.facts import NAME, read_facts
from karta_interpreter.engine.suites.comparison import SILENT

CHANGELOG = Path("CHANGELOG.md")
_BEGIN, _END = "<!-- answers: begin -->", "<!-- answers: end -->"
_UNRELEASED = "## [Unreleased]\n"
_LONGEST: Final = 160


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


def notes(changes: list[dict[str, Any]]) -> Iterator[str]:
    """Yield an item of a list for each kind and operation whose answers `diff` finds different, with the first one.

    >>> change = {"apiVersion": "v1", "kind": "Pod", "operation": "Retain", "name": "a", "known": "It is late."}
    >>> print(*notes([{**change, "differences": [{"path": "spec.count", "from": 1, "to": 2}]}]), end="")
    - v1 Pod, Retain: 1 answer, such as a: `spec.count` `1` → `2`. It is late.
    >>> print(*notes([{**change, "differences": [{"path": "", "from": SILENT, "to": {}}], "known": ""}]), end="")
    - v1 Pod, Retain: 1 answer, such as a: answered now.
    """
    for subject, group in groupby(sorted(changes, key=_subject), key=_subject):
        first, *others = group
        number = f"{1 + len(others)} answers" if others else "1 answer"
        example = f"{_text(first['name'])}: {_example(first['differences'][0])}"
        known = f" {first['known']}" if first.get("known") else ""
        yield f"- {_text('{} {}, {}'.format(*subject))}: {number}, such as {example}.{known}\n"


def renamed(before: dict[str, dict[str, str]], after: dict[str, dict[str, str]]) -> Iterator[str]:
    """Yield an item of a list for each kind of whose objects components have other names, with the first one.

    >>> print(*renamed({"v1/Pod": {"a": "pod"}}, {"v1/Pod": {"a": "main", "b": "main"}}), end="")
    - v1/Pod, names of components: 1 object, such as a: `pod` → `main`.
    """
    for kind, names in before.items():
        present = after.get(kind, {})
        changed = [case for case, name in names.items() if present.get(case, name) != name]
        if changed:
            case, number = changed[0], "1 object" if len(changed) == 1 else f"{len(changed)} objects"
            example = f"{_text(case)}: {_code(names[case])} → {_code(present[case])}"
            yield f"- {_text(kind)}, names of components: {number}, such as {example}.\n"


def _component_names(kartas: Path) -> dict[str, dict[str, str]]:
    """Return the names of components by the kinds of a folder of Kartas with their facts."""
    return {
        f"{path.parts[-4]}/{version}/{path.parts[-2]}": dict(names)
        for path in sorted(kartas.glob(f"*/*/*/{NAME}"))
        for version, names in read_facts(path).components.items()
    }


def _subject(change: dict[str, Any]) -> tuple[str, str, str]:
    return change["apiVersion"], change["kind"], change["operation"]


def _example(difference: dict[str, Any]) -> str:
    path, before, after = (difference.get(name, "nothing") for name in ("path", "from", "to"))
    if not path and SILENT in (before, after):
        return "answered now" if before == SILENT else "no longer answered"
    return " ".join(filter(None, [path and _code(path), _code(before), "→", _code(after)]))


def _text(text: str) -> str:
    r"""Return a text as one line of Markdown without markup.

    >>> print(_text("a [link](x) and <b>"))
    a \[link\](x) and \<b\>
    """
    return "".join(f"\\{letter}" if letter in "\\|`*_<>[]#" else letter for letter in " ".join(text.split()))


def _code(value: object) -> str:
    """Return a value as code in one line of Markdown.

    >>> _code("a"), _code("a `b`")
    ('`a`', '`` a `b` ``')
    """
    text = " ".join((value if isinstance(value, str) else json.dumps(value, sort_keys=True)).split())
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence, space = "`" * (longest + 1), " " if longest else ""
    return f"{fence}{space}{text}{space}{fence}"


def main() -> None:
    """Compare the catalogue of the revision with the one here, on the cases of all suites."""
    if len(sys.argv) != 2 or not sys.argv[1]:  # noqa: PLR2004 - the program and the revision
        raise SystemExit("give the revision to compare with: make catalogue-diff FROM=v0.1.0")
    revision = sys.argv[1]
    archive = subprocess.run(  # noqa: S603 - our own repository
        ["git", "archive", "--format=tar", revision, "--", "kartas"],  # noqa: S607
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    with TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        command = ["diff", "--from", f"{folder}/kartas", "--to", "catalogue", "--object", "kartas", "-o", "json"]
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-m", "karta_interpreter", *command], stdout=subprocess.PIPE, text=True, check=False
        )
        before = _component_names(Path(folder, "kartas"))
    if done.returncode not in (0, 1) or not done.stdout:
        raise SystemExit(done.returncode)
    changes = "".join([*renamed(before, _component_names(Path("kartas"))), *notes(json.loads(done.stdout))])
    CHANGELOG.write_text(with_answers(CHANGELOG.read_text(encoding="utf-8"), revision, changes), encoding="utf-8")


if __name__ == "__main__":
    main()
