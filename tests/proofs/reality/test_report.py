"""The tables of the page."""

import re
from pathlib import Path

from tests.proofs.reality.accepted import Accepted
from tests.proofs.reality.controllers import controller_of
from tests.proofs.reality.fights import promise
from tests.proofs.reality.findings import Finding, Outcome
from tests.proofs.reality.report import PAGE, results, write, write_operators

_JOBSET = controller_of("jobset")

_WHAT = (
    "components (template)",
    "health when pending",
    "pods when suspended",
    "pods: 4",
    "verify Retain",
    "gone",
)
_OUTCOME = Outcome("one", "jobset", "JobSet", "jobset.x-k8s.io/v1alpha2", [Finding(what) for what in _WHAT])
_ACCEPTED = [Accepted("one", "components", "because"), Accepted("one", "replica", "because")]


def test_comparisons_are_counted_by_what_they_are_about() -> None:
    lines = list(results([_JOBSET], [_OUTCOME], _ACCEPTED))
    assert lines[0].startswith("1 cases, 6 comparisons, Kubernetes v1.")
    kind = "jobset.x-k8s.io/v1alpha2 JobSet"
    assert f"| {kind} | jobset {_JOBSET.version} | 1 | 1 | 1 |  | 1 | 1 |  |  | 1 | 1 | 2 |" in lines
    assert "| components, replica | one | because |" in lines


def test_only_the_generated_part_of_the_page_is_replaced(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    write(page, [_JOBSET], [_OUTCOME], _ACCEPTED)
    ours, written = (re.split("<!-- results: (?:begin|end) -->", each.read_text()) for each in (PAGE, page))
    assert (ours[0], ours[2:]) == (written[0], written[2:])
    assert "because" in page.read_text()


def test_controllers_replace_their_own_rows_and_the_sum_counts_all(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    row = "| {} | {} | {} | 2 | 3 |  |  |  |  |  |  |  | 9 |"
    known = [
        row.format("ray.io/v1 RayJob", "kuberay v1", 4),
        row.format("jobset.x-k8s.io/v1alpha2 JobSet", "jobset v0", 7),
    ]
    page.write_text("\n".join(["<!-- results: begin -->", *known, "<!-- results: end -->\n"]), encoding="utf-8")
    write(page, [_JOBSET], [_OUTCOME], [])
    lines = page.read_text(encoding="utf-8").splitlines()
    assert lines[1].startswith("5 cases, 11 comparisons, ")
    assert [line.split(" | ")[1] for line in lines[5:7]] == [f"jobset {_JOBSET.version}", "kuberay v1"]


def test_operators_replace_their_own_rows_only(tmp_path: Path) -> None:
    page, rbg = tmp_path / "page.md", controller_of("rbg")
    empty = "  |" * 11
    known = f"| a/v1 A | another v1 |{empty}\n| b/v1 B | rbg v0 |{empty}"
    page.write_text(f"<!-- operators: begin -->\n{known}\n<!-- operators: end -->\n", encoding="utf-8")
    outcome = Outcome("one", "rbg", "RoleBasedGroup", "workloads.x-k8s.io/v1alpha2", [Finding("gone")])
    write_operators(page, [rbg], [outcome], [])
    rows = [line.split(" | ")[1] for line in page.read_text(encoding="utf-8").splitlines()[3:-1]]
    assert rows == ["another v1", f"rbg {rbg.version}"]


def test_page_promises_what_the_fights_are_held_to() -> None:
    page = PAGE.parents[3] / "docs" / "developers" / "proofs.md"
    assert promise() in " ".join(page.read_text(encoding="utf-8").split())
