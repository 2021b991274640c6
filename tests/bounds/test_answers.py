"""Each row of the table "What an answer is made of" in docs/developers/bounds.md names its bound and a test."""

import re
from importlib import import_module
from pathlib import Path

from karta_interpreter.definitions.karta.reference_resolver import MOST_BYTES, MOST_OBJECTS
from karta_interpreter.definitions.sources import unread
from karta_interpreter.engine.operations.interpret_dependency import MOST_NAMES
from karta_interpreter.languages.jq import MOST_OUTPUTS
from karta_interpreter.languages.jq.bounded.libjq import MOST_RESULTS
from karta_interpreter.webhook.answering.child_program import LONGEST_ANSWER
from tests.bounds.test_bounds import PAGE, number

ROOT = Path(__file__).parents[2]
BOUNDS = {
    "levels of an object that definitions refer to": unread.LEVELS,
    "names that an object has by a `namesExpression`": MOST_RESULTS,
    "objects that one call looks up": MOST_OBJECTS,
    "bytes of the objects that one call looks up": MOST_BYTES,
    "results of an expression in an annotation": MOST_OUTPUTS,
    "values that Retain keeps by one path": MOST_OUTPUTS,
    "names that one name with parameters stands for": MOST_NAMES,
    "bytes of an answer": LONGEST_ANSWER,
}


def test_row_has_the_bound_of_the_code_and_a_test() -> None:
    section = PAGE.read_text(encoding="utf-8").partition("\n## What an answer is made of\n")[2].partition("\n## ")[0]
    lines = [re.split(r"\s*\|\s*", line)[1:-1] for line in section.splitlines() if line.startswith("| ")][1:]
    assert {what for what, *_ in lines} >= BOUNDS.keys()
    for what, bound, tried in lines:
        assert what not in BOUNDS or number(bound) == BOUNDS[what], what
        path, _, name = tried.strip("`").partition("::")
        module = import_module(path.removesuffix(".py").replace("/", "."))
        assert callable(getattr(module, name)), tried
