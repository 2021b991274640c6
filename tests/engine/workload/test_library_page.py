"""The examples of the library's page give what they show; they are one session, from top to bottom."""

import doctest
import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "library.md"


def test_examples_give_what_they_show() -> None:
    text = PAGE.read_text(encoding="utf-8")
    # Everything but the examples becomes empty lines, so that failures are reported with the page's own lines.
    parts = re.split(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    examples = "\n".join(part if index % 2 else "\n" * part.count("\n") for index, part in enumerate(parts))
    session = doctest.DocTestParser().get_doctest(examples, {}, PAGE.name, str(PAGE), 0)
    said: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(session, out=said.append)
    assert session.examples
    assert not said, "".join(said)
