"""Drafts of operators that the catalogue lacks, from pods as their builders make them."""

from collections import Counter
from collections.abc import Sequence

import pytest

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.openapi.draft import Draft
from karta_interpreter.definitions.openapi.schema import CustomKind, completed
from karta_interpreter.engine.drafting.drafting import draft_from
from karta_interpreter.engine.verification import Evidence
from tests.support.drafted import judged, requests_of
from tests.support.operators import OPERATORS
from tests.support.rows import rows


def _judged(shown: Sequence[Evidence], objects: Sequence[Evidence]) -> tuple[Draft, int, list[list[str]]]:
    kind = CustomKind("", GVK.of(shown[0].object), completed({}, [each.object for each in objects]))
    drafted = draft_from(kind, shown)
    return drafted, *judged(drafted, [(each, Counter(map(requests_of, each.pods))) for each in objects])


@rows("operator", OPERATORS)
def test_draft_has_the_pods_of_every_object(operator: str) -> None:
    shown = OPERATORS[operator]
    _, right, silent = _judged(shown, shown)

    assert (right, silent) == (len(shown), [])


@pytest.mark.slow
@pytest.mark.parametrize("operator", OPERATORS)
def test_draft_of_fewer_objects_asks_where_it_may_be_wrong(operator: str) -> None:
    shown = OPERATORS[operator]

    assert [_judged(shown[:at] + shown[at + 1 :], shown)[2] for at in range(len(shown))] == [[]] * len(shown)


def test_count_is_in_the_part_that_the_template_reads() -> None:
    drafted, *_ = _judged(OPERATORS["victoria"], OPERATORS["victoria"])

    counts = [
        child["scaleDefinition"]["replicasPath"]
        for child in drafted.karta["spec"]["structureDefinition"]["childComponents"]
    ]
    assert sorted(counts) == [
        ".spec.requestsLoadBalancer.spec.replicaCount // 1",
        ".spec.vminsert.replicaCount // 1",
        ".spec.vmselect.replicaCount // 1",
        ".spec.vmstorage.replicaCount // 1",
    ]
