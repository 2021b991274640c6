"""Explanations of some kinds, reasoned from the documentation of their APIs.

Of the rules that a golden mentions, its facts are all that there are, in their order; of a fact the fields are compared
that the golden gives. Places are pointers into the object, or into ``observed`` and the status of a cluster.
"""

from pathlib import Path
from typing import Any

import pytest
import yaml

from karta_interpreter import Fact, Karta
from tests.support.rows import rows

_FOLDER = Path(__file__).parent / "goldens"


def goldens() -> list[Any]:
    read = [(path, yaml.safe_load(path.read_text())) for path in sorted(_FOLDER.glob("*.yaml"))]
    return [
        pytest.param(each, id=f"{path.stem} {each['call']['operation']} {number}")
        for path, documents in read
        for number, each in enumerate(documents)
    ]


def shown(fact: Fact) -> dict[str, Any]:
    places = {
        f"{place.cluster or place.source.removeprefix('object')}{place.pointer}": place.value for place in fact.places
    }
    return {**{name: getattr(fact, name) for name in Fact.__slots__}, "places": places, "writes": list(fact.writes)}


@rows("golden", goldens())
def test_facts_are_those_of_the_golden(golden: dict[str, Any]) -> None:
    call = {**golden["call"], "observed": golden.get("observed"), "statuses": golden.get("items", ())}
    found = Karta.for_object(golden["object"]).explain(call.pop("operation"), golden["object"], **call)

    rules = {fact["rule"] for fact in golden["facts"]}
    facts = [shown(fact) for fact in found.facts if fact.rule in rules]

    assert len(facts) == len(golden["facts"]), f"{golden['reason']}\n{facts}"
    for fact, expected in zip(facts, golden["facts"], strict=True):
        assert {name: fact[name] for name in expected} == expected, golden["reason"]
