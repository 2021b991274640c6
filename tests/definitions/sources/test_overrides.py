from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.base.karmada import SLOTS
from karta_interpreter.definitions.sources.files import MAX_BYTES, Folder, OverrideFile, overrides_of
from karta_interpreter.definitions.sources.snapshot import Overrides

Kind = Callable[[str], GVK]

_HEALTH, _RETAIN, _STATUS = "InterpretHealth", "Retain", "InterpretStatus"
_BROKEN = "function InterpretHealth(obj) return end end"


def customization(kind: str = "Job", name: str = "mine", /, **scripts: str) -> str:
    """Return the text of a customization, ``scripts`` by operation. A word becomes a script with it in a comment."""
    text = f"""\
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {{name: {name}}}
spec:
  target: {{apiVersion: example.io/v1, kind: {kind}}}
  customizations:
"""
    return text + "".join(_slot(operation, script) for operation, script in scripts.items())


def _slot(operation: str, script: str) -> str:
    field, function, expected, *_ = SLOTS[operation]
    if "function" not in script:
        parameters = "a, b"[: 3 * len(expected) - 2]
        script = f"function {function}({parameters}) return a end -- {script}"
    return f"    {field}: {{luaScript: '{script}'}}\n"


def words(state: Folder[OverrideFile], kind: GVK) -> dict[str, str]:
    """The word in the script of each operation."""
    scripts = overrides_of([state]).scripts.get(kind, ())
    return {script.operation: script.text.rpartition(" ")[2] for script in scripts}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "overrides"
    path.mkdir()
    return path


def follow(folder: Path, *texts: str) -> Folder[OverrideFile]:
    """The folder after its one file has had these contents one after the other."""
    state = Folder(folder, OverrideFile)
    for text in texts:
        (folder / "a.yaml").write_text(text)
        state = state.read()
    return state


def test_scripts_know_where_they_stand(folder: Path, gvk: Kind) -> None:
    state = follow(folder, customization(InterpretHealth="one"))

    ((found, scripts),) = overrides_of([state]).scripts.items()
    (script,) = scripts
    assert found == gvk("Job")
    assert (script.name, script.source, script.line) == ("mine", str(folder / "a.yaml"), 7)


def test_customizations_come_from_every_folder_and_are_merged_by_name_as_in_karmada(tmp_path: Path, gvk: Kind) -> None:
    folders = []
    for place, name in (("1", "late"), ("2", "early")):
        (tmp_path / place).mkdir()
        (tmp_path / place / "a.yaml").write_text(
            customization("Job", name, InterpretHealth=name, InterpretDependency=name)
        )
        folders.append(Folder(tmp_path / place, OverrideFile).read())

    found = overrides_of(folders)

    scripts = found.scripts[gvk("Job")]
    assert [script.name for script in scripts.of(_HEALTH)] == ["early"]
    assert [script.name for script in scripts.of("InterpretDependency")] == ["early", "late"]
    assert [finding.rule for finding in found.findings] == ["conflicting-scripts"]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        pytest.param([{_HEALTH: "old", _RETAIN: "old"}, {_HEALTH: _BROKEN, _RETAIN: "new"}],
            {_HEALTH: "old", _RETAIN: "new"}, id="a broken script stays as it was, its neighbour is renewed"),
        pytest.param([{_HEALTH: "old", _RETAIN: "old"}, {_RETAIN: "new"}], {_RETAIN: "new"}, id="what is gone is gone"),
        pytest.param([{_HEALTH: "old", _RETAIN: "old"}, {_HEALTH: _BROKEN}], {_HEALTH: "old"},
            id="broken and gone at once"),
        pytest.param([{_HEALTH: "old"}, {_HEALTH: _BROKEN}, {_HEALTH: _BROKEN, _RETAIN: "new"}],
            {_HEALTH: "old", _RETAIN: "new"}, id="it outlives several broken ones"),
        pytest.param([{_HEALTH: "old"}, {_HEALTH: _BROKEN}, {_HEALTH: "new"}], {_HEALTH: "new"}, id="and is renewed"),
        pytest.param([{_HEALTH: "old"}, {_HEALTH: _BROKEN}, {_RETAIN: "new"}], {_RETAIN: "new"}, id="or taken out"),
        pytest.param([{_HEALTH: _BROKEN, _RETAIN: "new"}], {_RETAIN: "new"}, id="it was never good"),
    ],
)  # fmt: skip
def test_edit_of_override_changes_scripts(
    folder: Path, gvk: Kind, texts: list[Mapping[str, str]], expected: Mapping[str, str]
) -> None:
    state = follow(folder, *(customization("Job", "mine", **scripts) for scripts in texts))

    assert words(state, gvk("Job")) == expected


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param("{", id="not YAML"),
        pytest.param("", id="truncated before it is written again"),
        pytest.param("\x00", id="not text that YAML takes"),
        pytest.param(customization(InterpretHealth="new").replace("kind: Job", "kind: ''"), id="no kind"),
        pytest.param(customization(InterpretHealth="new").replace("healthInter", "helthInter"), id="a field misspelt"),
        pytest.param(customization(InterpretHealth="new").replace("luaScript", "script"), id="another field misspelt"),
    ],
)
def test_broken_edit_serves_last_good_scripts(folder: Path, gvk: Kind, broken: str) -> None:
    state = follow(folder, customization(InterpretHealth="old"), broken)

    (quarantined,) = state.quarantined()
    assert words(state, gvk("Job")) == {_HEALTH: "old"}
    assert (quarantined.source, quarantined.serving_last_good) == (str(folder / "a.yaml"), True)


def test_broken_customization_leaves_the_other_renewed(folder: Path, gvk: Kind) -> None:
    first = f"{customization('A', 'a', InterpretHealth='a1')}---\n{customization('B', 'b', InterpretHealth='b1')}"
    second = f"{customization('A', 'a', InterpretHealth='a2')}---\n{customization('B', 'b', InterpretHealth=_BROKEN)}"

    state = follow(folder, first, second)

    assert words(state, gvk("A")) == {_HEALTH: "a2"}
    assert words(state, gvk("B")) == {_HEALTH: "b1"}


def test_broken_dependency_script_leaves_the_other(folder: Path, gvk: Kind) -> None:
    def both(second: str) -> str:
        return "---\n".join(
            customization("Job", name, InterpretDependency=script) for name, script in (("a", "a1"), ("b", second))
        )

    state = follow(folder, both("b1"), both("function GetDependencies(a) return end end"))

    scripts = overrides_of([state]).scripts[gvk("Job")].of("InterpretDependency")
    assert [script.text[-2:] for script in scripts] == ["a1", "b1"]


def test_quarantine_says_what_is_wrong_and_that_the_rest_is_used(folder: Path, gvk: Kind) -> None:
    state = follow(folder, customization(Retain="new", InterpretHealth=_BROKEN))

    (quarantined,) = state.quarantined()
    assert (quarantined.name, quarantined.gvk) == ("mine", gvk("Job"))
    assert not quarantined.serving_last_good
    assert words(state, gvk("Job")) == {"Retain": "new"}
    assert [(finding.rule, finding.line) for finding in quarantined.findings] == [("lua-syntax", 8)]


def test_warnings_are_no_reason_for_quarantine(folder: Path) -> None:
    state = follow(folder, customization(InterpretHealth="function InterpretHealth(a) return unknown end"))

    assert list(state.quarantined()) == []


def test_document_that_is_not_a_customization_is_quarantined(folder: Path, karta: Callable[..., str]) -> None:
    state = follow(folder, f"{karta('A')}---\n{customization(Retain='new')}")

    (quarantined,) = state.quarantined()
    assert (quarantined.name, quarantined.serving_last_good) == ("a", False)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(b"\xff\xfe", "not UTF-8", id="binary"),
        pytest.param(b" " * (MAX_BYTES + 1), "larger than 4 MiB", id="too large"),
    ],
)
def test_unreadable_override_is_quarantined(folder: Path, content: bytes, says: str) -> None:
    (folder / "a.yaml").write_bytes(content)

    (quarantined,) = Folder(folder, OverrideFile).read().quarantined()

    assert says in quarantined.findings[0].message


def test_deleted_file_removes_scripts_and_lost_folder_keeps_them(folder: Path, gvk: Kind) -> None:
    state = follow(folder, customization(InterpretHealth="old"))
    folder.rename(folder.with_name("elsewhere"))
    lost = state.read()
    folder.mkdir()
    deleted = lost.read()

    assert words(lost, gvk("Job")) == {_HEALTH: "old"}
    assert [(each.source, each.serving_last_good) for each in lost.quarantined()] == [(str(folder), True)]
    assert words(deleted, gvk("Job")) == {}
    assert list(deleted.quarantined()) == []


def test_unchanged_folder_reads_as_equal(folder: Path) -> None:
    first = follow(folder, customization(InterpretHealth="old"))
    (folder / "a.yaml").touch()

    assert first.read() == first
    assert overrides_of([first.read()]) == overrides_of([first])


def test_empty_sources_give_no_overrides() -> None:
    assert overrides_of([]) == Overrides()
