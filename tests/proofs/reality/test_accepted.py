"""The list of accepted differences, and the cases that it names."""

from collections import Counter

import pytest
from pydantic import ValidationError

from karta_interpreter.base.errors import ManifestError
from tests.proofs.reality.accepted import FILE, Accepted, judge, read_accepted
from tests.proofs.reality.case import Case, read_cases
from tests.proofs.reality.controllers import CONTROLLERS, controller_of, shares_module
from tests.proofs.reality.findings import Finding, Outcome
from tests.proofs.reality.run import rounds, with_needed
from tests.proofs.reality.steps import STEPS

_BUILTIN = controller_of("built-in")

_POD = {"apiVersion": "v1", "kind": "Pod"}
_CASES = [case for controller in CONTROLLERS for case in read_cases(controller)]
_CRDS = {f"CRD of {kind.api_version} {kind.name}" for controller in CONTROLLERS for kind in controller.kinds}


def _outcome(case: str, **findings: str) -> Outcome:
    return Outcome(case, "c", "Kind", "v1", [Finding(what, problem) for what, problem in findings.items()])


_KNOWN = [Accepted("one", "health", "because")]


@pytest.mark.parametrize(
    ("outcomes", "lines"),
    [
        ([_outcome("one", health="ours False")], []),
        ([_outcome("one", health="ours False", counts="ours 2")], ["one: counts: ours 2"]),
        ([_outcome("one", health="")], ["one: health: gone: remove it from accepted.yaml"]),
        ([_outcome("two", health="ours False")], ["two: health: ours False"]),
        ([_outcome("two", health="")], []),  # the case of the entry did not run
    ],
    ids=["known", "another", "gone", "of another case", "not run"],
)
def test_difference_and_accepted_entry_need_each_other(outcomes: list[Outcome], lines: list[str]) -> None:
    assert list(judge(outcomes, _KNOWN)) == lines


def test_entry_without_label_is_for_all_labels() -> None:
    outcome = Outcome("one", "c", "Kind", "v1", [Finding("components (template)", "ours 2"), Finding("replica (x)")])
    known = [Accepted("one", "components", "because"), Accepted("one", "replica", "because")]
    assert list(judge([outcome], known)) == ["one: replica: gone: remove it from accepted.yaml"]


def test_entry_may_have_many_cases_and_comparisons() -> None:
    text = "- {case: [a, b], what: [x, z], reason: 'for\n  this'}"
    assert read_accepted(text) == [Accepted(case, what, "for this") for case in "ab" for what in "xz"]


def test_repeated_entry_is_an_error() -> None:
    with pytest.raises(ManifestError, match="twice"):
        read_accepted("- {case: a, what: x, reason: this, case: b}")


def test_accepted_differences_are_of_cases_that_exist_and_have_a_reason() -> None:
    accepted = read_accepted(FILE.read_text(encoding="utf-8"))
    assert {entry.case for entry in accepted} <= {case.name for case in _CASES} | _CRDS
    assert all(len(entry.reason.split()) > 3 for entry in accepted)
    assert len({(entry.case, entry.what) for entry in accepted}) == len(accepted)


def test_names_of_cases_are_namespaces_and_differ() -> None:
    names = [case.name for case in _CASES]
    assert [name for name, count in Counter(names).items() if count > 1] == []
    assert all(name == name.lower() and "_" not in name for name in names)


def test_steps_are_known() -> None:
    words = {step.partition(" ")[0] for case in _CASES for step in case.steps}
    assert words <= STEPS.keys()


def test_unknown_field_is_an_error() -> None:
    with pytest.raises(ValidationError, match="objekt"):
        Case.model_validate({"name": "x", "controller": _BUILTIN, "object": _POD, "steps": [], "objekt": {}})


def test_race_after_unknown_step_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"case x: races after unknown steps \['edit'\]"):
        Case(controller=_BUILTIN, name="x", object=_POD, steps=("running",), races=frozenset({"edit"}))


def test_controllers_that_want_one_port_do_not_run_together() -> None:
    assert [controller for one in rounds(CONTROLLERS) for controller in one] != []
    for one in rounds(CONTROLLERS):
        ports = [port for controller in one for port in controller.ports]
        assert len(ports) == len(set(ports))


def test_controller_brings_those_that_it_needs() -> None:
    assert with_needed([_BUILTIN], CONTROLLERS) == [_BUILTIN]
    for controller in CONTROLLERS:
        names = {one.name for one in with_needed([controller], CONTROLLERS)}
        assert names == {controller.name, *controller.needs}


def test_builtin_controller_is_shared() -> None:
    assert shares_module(_BUILTIN)
