import json
import re

import pytest
import yaml
from hypothesis import assume, given, strategies as st

from karta_interpreter.base.k8s.manifest import read_documents
from karta_interpreter.base.positions import Lines, split_lines
from tests.support.rows import rows

_SCRIPT = ("script",)


def _lines(text: str) -> Lines:
    (document,) = read_documents(text, "it.yaml")
    return Lines(split_lines(text), *document.position(_SCRIPT), document.value["script"])


@rows(
    ("text", "expected"),
    [
        pytest.param("script: |\n  a()\n  b()\n", (2, 3, 4), id="a literal block keeps its lines"),
        pytest.param("script: |-\n  a()\n\n  b()", (2, 3, 4), id="empty lines of a literal block are lines"),
        pytest.param("script: |\n\n  a()\n", (2, 3, 4), id="so is an empty first line"),
        pytest.param("script: &anchor !!str |\n  a()\n  b()", (2, 3), id="an anchor and a tag stand before the style"),
        pytest.param("script: | # why\n  a()\n", (2, 3), id="a comment stands behind it"),
        pytest.param("script: >\n  a()\n  b()\n", (2, 4), id="lines below one another are folded into one"),
        pytest.param("script: >\n  a()\n    b()\n    c()\n  d()\n", (2, 3, 4, 5, 6), id="deeper lines are not folded"),
        pytest.param("script: >\n  a()\n\n  b()\n", (2, 4, 5), id="an empty line between two makes one break"),
        pytest.param("script: >\n\n  a()\n", (2, 3, 4), id="an empty first line of a folded block is a line"),
        pytest.param("script: >2\n    a()\n  b()\n", (2, 3, 4), id="the indentation may be given"),
        pytest.param("x: 1\nscript: 'a() b()'\n", (2,), id="a quoted string stands on one line"),
        pytest.param(json.dumps({"script": "a()\nb()\n"}), (1, 1, 1), id="and so do all lines of a JSON string"),
        pytest.param("x: &x |\n  a()\n  b()\nscript: *x\n", (4, 4, 4), id="an alias is where it is used"),
    ],
)
def test_script_lines_have_lines_of_the_text(text: str, expected: tuple[int, ...]) -> None:
    assert _lines(text).of_value == expected


@rows(
    ("text", "number", "word", "expected"),
    [
        pytest.param(
            "script: |\n  if a then\n    b()\n", 2, "", (3, 5), id="without a word it is where the line starts"
        ),
        pytest.param("script: |\n  x, xy = 1\n", 1, "xy", (2, 6), id="a word is not a part of another"),
        pytest.param(
            "script: >\n  a()\n  b()\n", 1, "b", (3, 3), id="a word of a folded line is in the line it came from"
        ),
        pytest.param("script: |\n  a()\n", 1, "missing", (1, 9), id="a word that is not there leads to the script"),
        pytest.param("script: |\n  a()\n", 9, "", (1, 9), id="so does a line that is not there"),
        pytest.param('{"script": "a()\\nb()"}', 2, "b", (1, 12), id="and every line of a JSON string"),
    ],
)
def test_word_has_its_place(text: str, number: int, word: str, expected: tuple[int, int]) -> None:
    assert _lines(text).place(number, re.compile(rf"\b{word}\b" if word else r"\S").search) == expected


_CODE = st.text(st.sampled_from("ab -\"'#:"), max_size=12)


@given(st.lists(_CODE, min_size=1, max_size=8).map("\n".join), st.sampled_from("|>'\""))
def test_lines_are_found_in_every_yaml_style(script: str, style: str) -> None:
    # PyYAML's writer is the oracle: it folds lines of more than eight characters, some of them where it must not.
    value = yaml.safe_dump(script, default_style=style, width=8).removesuffix("...\n")
    text = f"before: 1\nscript: {value}"
    assume(yaml.safe_load(text)["script"] == script)
    lines, source = _lines(text), split_lines(text)

    assert len(lines.of_value) == script.count("\n") + 1
    for number, (line, of_text) in enumerate(zip(script.split("\n"), lines.of_value, strict=True), start=1):
        assert lines.place(number)[0] in range(2, len(source) + 1)
        if value[0] in "|>" and line.strip():
            assert source[of_text - 1].strip()
            assert line.strip().startswith(source[of_text - 1].strip())
