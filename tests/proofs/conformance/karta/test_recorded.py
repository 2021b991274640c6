"""Our library compared with what Karta's own library answered: about made-up workloads, and about definitions alone.

The answers are recorded: Karta's library v0.0.11 with later changes of its accessor, querier, validation and suspend,
on gojq 0.12.19.
"""

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pytest

from tests.proofs.conformance.karta import differences, verdicts
from tests.proofs.conformance.karta.differences import DIFFERENCES, RAW_PODS, explanation, shown
from tests.proofs.conformance.karta.facts import facts
from tests.support.examples import SWEEPS_ALL

HERE = Path(__file__).parent
DOCS = HERE.parents[3] / "docs"
FACTS = 34_142


def records(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(HERE / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


@pytest.mark.sweep
def test_recorded_facts_agree_or_have_a_reason() -> None:
    used: Counter[differences.Difference | str] = Counter()
    failures, asked = [], 0
    some = islice(records("edges"), 0, None, 1 if SWEEPS_ALL else 10)
    for fact in chain.from_iterable(map(facts, some)):
        asked += 1
        if not fact.agrees:
            found = explanation(fact)
            used.update(found)
            failures += [] if found else [shown(fact)]
    assert not failures, "\n".join(failures[:20])
    if SWEEPS_ALL:
        assert asked == FACTS
        assert [each for each in (*DIFFERENCES, RAW_PODS) if not used[each]] == [], "no fact needs these"


def test_definitions_are_refused_that_karta_refuses_and_others_for_a_reason() -> None:
    used: set[str | None] = set()
    for record in records("definitions"):
        found, accepted = verdicts.errors(record["definition"]), record["verdict"]["ok"]
        # What has an answer all the same is a warning that says so.
        assert found or accepted or verdicts.says_refused(record["definition"]), f"{record['id']}: {record['verdict']}"
        reasons = verdicts.reasons(found) if accepted else []
        assert None not in reasons, f"{record['id']}: {found}"
        used.update(reasons)
    assert used == set(verdicts.REASONS.values()), "no definition needs the others"


def test_differences_are_named_in_documentation() -> None:
    page = (HERE / "differences.md").read_text(encoding="utf-8")
    query = re.sub(r"\n  ", " ", (DOCS / "query.md").read_text(encoding="utf-8"))
    named = {line.split(" | ")[0].removeprefix("| ") for line in page.splitlines() if line.startswith("| ")}
    named |= {line.removeprefix("- ") for line in query.splitlines() if line.startswith("- ")}
    rows = {difference.row for difference in DIFFERENCES} | {RAW_PODS} | set(verdicts.REASONS.values())
    assert rows - named == set()
