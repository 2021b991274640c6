"""Which kinds are served, and what is said about names that fit none."""

from collections.abc import Callable
from pathlib import Path

import pytest

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.sources.snapshot import Selection
from karta_interpreter.definitions.sources.store import Store
from tests.definitions.sources.test_overrides import customization
from tests.support.rows import rows

DEPLOYMENT, STATEFUL_SET = GVK("apps", "v1", "Deployment"), GVK("apps", "v1", "StatefulSet")
JOB, VOLCANO_JOB = GVK("batch", "v1", "Job"), GVK("batch.volcano.sh", "v1alpha1", "Job")
POD = GVK("", "v1", "Pod")
ALL = (DEPLOYMENT, STATEFUL_SET, JOB, VOLCANO_JOB, POD)


@rows(
    ("kinds", "without", "taken"),
    [
        pytest.param((), (), ALL, id="all, when nothing is said"),
        pytest.param(("Deployment",), (), [DEPLOYMENT], id="one"),
        pytest.param(("deployment", "POD"), (), [DEPLOYMENT, POD], id="in any case"),
        pytest.param(("Job",), (), [JOB, VOLCANO_JOB], id="a kind is that of every group"),
        pytest.param(("batch/v1/Job",), (), [JOB], id="unless its API version is named"),
        pytest.param(("apps/v1/*",), (), [DEPLOYMENT, STATEFUL_SET], id="all of an API version"),
        pytest.param(("v1/*",), (), [POD], id="the core group has no name, and is not the end of another's"),
        pytest.param((), ("apps/v1/*", "Job"), [POD], id="all but some"),
        pytest.param(("Job",), ("batch/v1/Job",), [VOLCANO_JOB], id="what is left out counts more"),
        pytest.param(("Job.batch",), (), [], id="another notation fits nothing"),
    ],
)
def test_kinds(kinds: tuple[str, ...], without: tuple[str, ...], taken: list[GVK]) -> None:
    selection = Selection(kinds, without)
    assert [gvk for gvk in ALL if selection.takes(gvk)] == list(taken)


@rows(
    "selection",
    [
        pytest.param(Selection(), id="everything"),
        pytest.param(Selection(("Job",)), id="one kind"),
        pytest.param(Selection(without=("Job",)), id="all but one"),
    ],
)
def test_selection_takes_kind_that_could_not_be_read(selection: Selection) -> None:
    assert selection.takes(None), "its findings are shown, whatever kind it was meant to be"


@rows(
    ("selection", "message", "hint"),
    [
        pytest.param(Selection(without=("Deploymnt",)), "--without Deploymnt", "did you mean Deployment?", id="a slip"),
        pytest.param(Selection(("apps/v1/Pod",)), "--kinds apps/v1/Pod", "", id="the wrong group"),
        pytest.param(
            Selection(("batch/v1beta1/Job",)), "--kinds batch/v1beta1/Job", "batch/v1/Job", id="another version"
        ),
        pytest.param(
            Selection(("Job;Pod",)), "--kinds Job;Pod", "--kinds in front of each name, or spaces", id="a list"
        ),
        pytest.param(Selection(without=("Job,Pod",)), "--without Job,Pod", "--without in front of", id="a comma"),
        pytest.param(Selection(("batch.v1.Job",)), "--kinds batch.v1.Job", "did you mean batch/v1/Job?", id="dots"),
        pytest.param(Selection(("Jo*",)), "--kinds Jo*", "there are: Deployment, ", id="a pattern"),
        pytest.param(Selection(("apps",)), "--kinds apps", "there are: apps/v1/*", id="a group alone"),
        pytest.param(Selection(("batch/v1",)), "--kinds batch/v1", "did you mean batch/v1/*?", id="an API version"),
        pytest.param(Selection(("app/v1/*",)), "--kinds app/v1/*", "did you mean apps/v1/*?", id="a group"),
    ],
)
def test_name_without_match_is_a_warning(selection: Selection, message: str, hint: str) -> None:
    (finding,) = selection.findings(ALL)
    assert finding.message == f"{message}: there is no definition for it"
    assert hint in finding.hint


def test_filtered_kind_is_neither_served_nor_in_conflict(
    tmp_path: Path, karta: Callable[..., str], gvk: Callable[[str], GVK]
) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "kartas.yaml").write_text("\n---\n".join((karta("A"), karta("B"))))
    roots = [tmp_path / "one", tmp_path / "two"]

    snapshot = Store(roots, catalogue=False, selection=Selection(without=("A",))).load()

    assert snapshot.kinds() == [gvk("B")]
    assert [finding.rule for finding in snapshot.findings] == ["shadowed-kind"], "only that of B"


def test_scripts_of_what_is_left_out_do_not_answer(tmp_path: Path) -> None:
    (tmp_path / "scripts.yaml").write_text(customization("Doll", InterpretHealth="mine"))
    (answered,) = Store(catalogue=False, overrides=[tmp_path]).load().kinds()

    snapshot = Store(catalogue=False, overrides=[tmp_path], selection=Selection(without=(answered.kind,))).load()

    assert (snapshot.kinds(), snapshot.findings) == ([], ()), "the name is known"


def test_broken_scripts_of_what_is_left_out_are_left_out_too(tmp_path: Path, gvk: Callable[[str], GVK]) -> None:
    # A quarantined kind keeps its registration, so that a kind that is left out would still be called.
    for kind in ("A", "B"):
        (tmp_path / f"{kind}.yaml").write_text(customization(kind, Retain="function Retain("))

    snapshot = Store(catalogue=False, overrides=[tmp_path], selection=Selection(without=("A",))).load()

    assert [broken.gvk for broken in snapshot.quarantined] == [gvk("B")]
