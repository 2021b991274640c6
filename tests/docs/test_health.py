"""The families of docs/developers/proofs.md are those by which the definitions answer."""

import re
from pathlib import Path

from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.sources.files import load_catalogue
from karta_interpreter.engine.evaluation.status import Status
from karta_interpreter.engine.operations import Operation
from karta_interpreter.engine.operations.interpret_health import healthy_statuses

_PAGE = Path(__file__).parents[2] / "docs" / "developers" / "proofs.md"


def test_kinds_of_catalogue_are_in_row_of_their_family() -> None:
    section = re.search(r"## Health of the catalogue\n(.*?)\n### ", _PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert section
    rows = re.findall(r"^\| ([A-Z].*) \| (.*) \|$", section[1], re.MULTILINE)
    families = {(kind, _family(says)) for kinds, says in rows for kind in re.findall(r"\w+", kinds)}
    known = [entry.definition for entry in load_catalogue().entries]
    definitions = [each for each in known if each.answers(Operation.INTERPRET_HEALTH)]
    assert {(each.gvk.kind, _answers(each)) for each in definitions} - families == set()


def _family(says: str) -> str:
    if "`health`" in says:
        return "by an expression"
    return "runs to completion" if says == "run to completion" else "serves"


def _answers(definition: Definition) -> str:
    if definition.annotations.health is not None:
        return "by an expression"
    return "runs to completion" if Status.INITIALIZING in healthy_statuses(definition) else "serves"
