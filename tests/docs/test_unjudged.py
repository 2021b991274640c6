"""Which kinds of the catalogue have been judged by their operator."""

from collections import Counter

from docs.tools.write_reality import PAGE, judged, kind_name, unjudged
from karta_interpreter.definitions.sources.files import load_catalogue


def test_kind_is_judged_by_its_operator_or_has_one_reason() -> None:
    named = Counter(kind for each in unjudged() for kind in each["kinds"])
    named.update(judged(PAGE.read_text(encoding="utf-8")).keys())
    assert named == Counter(kind_name(entry.definition.gvk) for entry in load_catalogue().entries)
