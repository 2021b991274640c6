from tests.conformance.catalogue import PAGE, Pair, complaints, read_reasons
from tests.conformance.environment import environment_questions
from tests.conformance.known import reasons

HEALTH = ("ray.io/v1 RayCluster", "InterpretHealth")
REASONS = {HEALTH: "because"}


def test_a_difference_with_a_reason_is_no_complaint() -> None:
    assert not list(complaints([Pair(*HEALTH, asked=2, different=["x"])], REASONS))


def test_a_difference_needs_a_reason() -> None:
    (complaint,) = complaints([Pair(*HEALTH, asked=2, different=["x"])], {})
    assert "gives no reason" in complaint


def test_a_reason_needs_a_difference() -> None:
    (complaint,) = complaints([Pair(*HEALTH, asked=2)], REASONS)
    assert "does not differ any more" in complaint


def test_the_page_has_its_reasons_in_the_form_that_is_read() -> None:
    kinds = "".join(line.split("|")[1] for line in PAGE.read_text().splitlines() if line.startswith("| "))
    assert len(read_reasons(PAGE.read_text())) == kinds.count("/v") > 0


def test_a_row_may_name_several_kinds() -> None:
    page = "| apps.kruise.io/v1alpha1 CloneSet, apps.kruise.io/v1beta1 StatefulSet | Retain | because |"
    assert read_reasons(page) == {
        ("apps.kruise.io/v1alpha1 CloneSet", "Retain"): "because",
        ("apps.kruise.io/v1beta1 StatefulSet", "Retain"): "because",
    }


def test_every_known_difference_is_about_a_script_that_is_there() -> None:
    sources = {question.scripts[0].source for question in environment_questions()}
    assert reasons().keys() <= sources
