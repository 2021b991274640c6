import fnmatch
from collections.abc import Iterator

import pytest

from tests.catalogue.entries import Entry, entries
from tests.proofs.conformance.gitops.aggregates import Aggregate, aggregates
from tests.proofs.conformance.gitops.law import GOOD, REASONS, Tally, agree
from tests.proofs.conformance.reasons import Reasons
from tests.support.rows import rows


@pytest.fixture(scope="module")
def deployments() -> list[Aggregate]:
    return list(aggregates(_of("Deployment")))


def _of(kind: str) -> Iterator[Entry]:
    yield from (entry for entry in entries() if entry.folder.name == kind and entry.folder.parts[0] == "apps")


@rows(
    ("members", "template", "expected"),
    [
        pytest.param(["Healthy", "Healthy"], "Healthy", True, id="all are well"),
        pytest.param(["Healthy", "Healthy"], "Progressing", False, id="healthy members stay healthy"),
        pytest.param(["Degraded", "Degraded"], "Progressing", False, id="one verdict of all is that of the whole"),
        pytest.param(["Healthy", "Degraded"], "Progressing", True, id="any but the good one, where they differ"),
        pytest.param(["Healthy", "Degraded"], "Healthy", False, id="the good one hides a member"),
        pytest.param(["Suspended"], "Suspended", True, id="a single member"),
    ],
)
def test_agree(members: list[str], template: str, expected: bool) -> None:
    assert agree(members, template, GOOD["argocd"]) is expected


def test_template_is_single_duplicated_or_divided(deployments: list[Aggregate]) -> None:
    spec = {
        each.placement: (each.template["spec"]["replicas"], each.template["status"]["replicas"])
        for each in deployments
        if {member.state for member in each.members} == {"rolled out and available"}
    }
    assert spec == {"Single": (3, 3), "Duplicated": (3, 6), "Divided": (6, 6)}


def test_members_come_in_both_orders(deployments: list[Aggregate]) -> None:
    orders = {tuple(member.state for member in each.members) for each in deployments if each.members[1:]}
    assert orders == {states[::-1] for states in orders}
    assert any(states[0] != states[1] for states in orders)


def test_template_is_current_if_all_members_are(deployments: list[Aggregate]) -> None:
    observed = {
        each.members[0].state: each.template["status"]["observedGeneration"] - each.template["metadata"]["generation"]
        for each in deployments
        if each.placement == "Single" and "observedGeneration" in each.template["status"]
    }
    assert observed["rolled out and available"] == 0
    assert observed["the status is older than the spec"] == -1


def test_tool_that_does_not_judge_a_kind_is_not_asked(deployments: list[Aggregate]) -> None:
    tally = Tally()
    silent = {"argocd": "", "kubectl": "error", "kstatus": "Current"}
    tally.judge(deployments[0], [silent], silent)
    assert tally.asked == {"kstatus": 1}


def test_difference_without_reason_fails(deployments: list[Aggregate]) -> None:
    tally = Tally()
    tally.judge(deployments[0], [GOOD], GOOD | {"argocd": "Missing"})
    assert "apps/v1 Deployment argocd Single: Healthy -> Missing, 1 times" in next(tally.failures())


def test_reasons_are_about_kinds_of_the_catalogue() -> None:
    definitions = [entry.definition for entry in entries() if entry.definition]
    kinds = {f"{each.gvk.api_version} {each.gvk.kind}" for each in definitions}
    reasoned = {" ".join(row.pattern.split()[:2]) for row in Reasons(REASONS).rows}
    assert [pattern for pattern in reasoned if not fnmatch.filter(kinds, pattern)] == []
