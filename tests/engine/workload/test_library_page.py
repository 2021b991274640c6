"""The examples of the library's page are one session, from top to bottom, and one program for a type checker."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

from tests.support.waiting import HANG

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "library.md"


def session() -> doctest.DocTest:
    """Return the examples of the page."""
    text = PAGE.read_text(encoding="utf-8")
    # Everything but the examples becomes empty lines, so that failures are reported with the page's own lines.
    parts = re.split(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    examples = "\n".join(part if index % 2 else "\n" * part.count("\n") for index, part in enumerate(parts))
    return doctest.DocTestParser().get_doctest(examples, {}, PAGE.name, str(PAGE), 0)


def test_examples_give_what_they_show() -> None:
    examples = session()
    said: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples, out=said.append)
    assert examples.examples
    assert not said, "".join(said)


def test_examples_are_one_program_of_right_types(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("".join(example.source for example in session().examples), encoding="utf-8")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", program], cwd=ROOT, capture_output=True, text=True, check=False, timeout=HANG
    )
    assert checked.returncode == 0, checked.stdout
