import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.sources import files
from karta_interpreter.definitions.sources.budget import Budget, weight
from karta_interpreter.definitions.sources.files import MAX_BYTES, DefinitionFile, Folder, layer_of
from karta_interpreter.definitions.sources.snapshot import combine

Karta = Callable[..., str]
Kind = Callable[[str], GVK]

_BROKEN = ".spec.replicas |"


def _replicas(folder: Folder[DefinitionFile], gvk: GVK) -> str | None:
    """The text of the one expression that tests change; None when the kind is not served."""
    definition = combine([layer_of(folder)]).find(gvk)
    return definition.root.replicas.text if definition and definition.root.replicas else None


def _kinds(folder: Folder[DefinitionFile]) -> list[str]:
    return [gvk.kind for gvk in combine([layer_of(folder)]).kinds()]


def test_definitions_come_from_every_document_of_every_file(folder: Path, karta: Karta) -> None:
    (folder / "two.yaml").write_text(f"{karta('A')}---\n{karta('B')}")
    (folder / "sub").mkdir()
    (folder / "sub" / "c.yml").write_text(karta("C"))

    layer = layer_of(Folder(folder, DefinitionFile).read())

    assert [(entry.definition.name, entry.origin) for entry in layer.entries] == [
        ("c", str(folder / "sub" / "c.yml")),
        ("a", str(folder / "two.yaml")),
        ("b", str(folder / "two.yaml")),
    ]


def test_single_file_is_read_as_folder(folder: Path, karta: Karta) -> None:
    file = folder / "karta.txt"
    file.write_text(karta("A"))

    assert _kinds(Folder(file, DefinitionFile).read()) == ["A"]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere file names are text")
@pytest.mark.parametrize("text", [pytest.param(None, id="good"), pytest.param("kind: [", id="broken")])
def test_undecodable_file_name_is_replaced(folder: Path, karta: Karta, text: str | None) -> None:
    """Logs, metrics and the API server take text only."""
    Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.yaml")).write_text(text or karta("A"))

    layer = layer_of(Folder(folder, DefinitionFile).read())

    named = str(folder / "caf\ufffd.yaml")
    assert [entry.origin for entry in layer.entries] == [named] * (text is None)
    assert [broken.source for broken in layer.quarantined] == [named] * (text is not None)
    assert {finding.source for broken in layer.quarantined for finding in broken.findings} <= {named}


def test_unchanged_folder_reads_as_equal(folder: Path, karta: Karta) -> None:
    (folder / "a.yaml").write_text(karta("A"))
    first = Folder(folder, DefinitionFile).read()
    (folder / "a.yaml").touch()

    second = first.read()

    assert second == first
    assert layer_of(second).entries[0].definition is layer_of(first).entries[0].definition


def test_broken_file_keeps_last_good_version(folder: Path, karta: Karta, gvk: Kind) -> None:
    file = folder / "a.yaml"
    file.write_text(karta("A", replicas=".spec.good"))
    good = Folder(folder, DefinitionFile).read()
    file.write_text(karta("A", replicas=_BROKEN))

    broken = good.read()

    assert _replicas(broken, gvk("A")) == ".spec.good"
    (quarantined,) = layer_of(broken).quarantined
    assert (quarantined.source, quarantined.name, quarantined.gvk) == (str(file), "a", gvk("A"))
    assert quarantined.serving_last_good
    assert quarantined.findings


def test_last_good_version_outlives_several_broken_ones(folder: Path, karta: Karta, gvk: Kind) -> None:
    file = folder / "a.yaml"
    state = Folder(folder, DefinitionFile)
    for text in (karta("A", replicas=".spec.good"), "{", karta("A", replicas=_BROKEN), "\x00"):
        file.write_text(text)
        state = state.read()

    assert _replicas(state, gvk("A")) == ".spec.good"


def test_repaired_file_leaves_quarantine(folder: Path, karta: Karta, gvk: Kind) -> None:
    file = folder / "a.yaml"
    state = Folder(folder, DefinitionFile)
    for replicas in (".spec.good", _BROKEN, ".spec.better"):
        file.write_text(karta("A", replicas=replicas))
        state = state.read()

    assert _replicas(state, gvk("A")) == ".spec.better"
    assert layer_of(state).quarantined == ()


def test_never_good_file_serves_nothing(folder: Path, karta: Karta) -> None:
    (folder / "a.yaml").write_text(karta("A", replicas=_BROKEN))

    layer = layer_of(Folder(folder, DefinitionFile).read())

    assert layer.entries == ()
    assert [quarantined.serving_last_good for quarantined in layer.quarantined] == [False]


def test_broken_document_does_not_hold_up_neighbours(folder: Path, karta: Karta, gvk: Kind) -> None:
    file = folder / "all.yaml"
    file.write_text(f"{karta('A', replicas='.a1')}---\n{karta('B', replicas='.b1')}---\n{karta('C')}")
    state = Folder(folder, DefinitionFile).read()
    file.write_text(f"{karta('A', replicas='.a2')}---\n{karta('B', replicas=_BROKEN)}")

    state = state.read()

    assert _replicas(state, gvk("A")) == ".a2", "the good document is renewed"
    assert _replicas(state, gvk("B")) == ".b1", "the broken one stays as it was"
    assert _replicas(state, gvk("C")) is None, "the one that was taken out is gone"


def test_document_without_name_stands_for_no_definition_that_is_renewed(folder: Path, karta: Karta, gvk: Kind) -> None:
    file = folder / "all.yaml"
    file.write_text(karta("A", replicas=".a1"))
    state = Folder(folder, DefinitionFile).read()
    file.write_text(f"{karta('A', replicas='.a2')}---\nkind: Karta\n")

    state = state.read()

    assert [entry.definition.gvk for entry in layer_of(state).entries] == [gvk("A")]
    assert _replicas(state, gvk("A")) == ".a2"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="truncated before it is written again"),
        pytest.param("---\n# nothing\n", id="no document but a comment"),
        pytest.param("apiVersion: run.ai/v1alpha1\nki", id="cut off before its name"),
        pytest.param("apiVersion: run.ai/v1alpha1\nkind: Karta\nmetadata:\n  name: a\n", id="cut off before its spec"),
    ],
)
def test_truncated_file_keeps_last_good_version(folder: Path, karta: Karta, gvk: Kind, text: str) -> None:
    file = folder / "a.yaml"
    file.write_text(karta("A", replicas=".spec.good"))
    state = Folder(folder, DefinitionFile).read()
    file.write_text(text)
    state = state.read()

    assert _replicas(state, gvk("A")) == ".spec.good"
    (quarantined,) = layer_of(state).quarantined
    assert quarantined.serving_last_good

    file.unlink()
    assert _replicas(state.read(), gvk("A")) is None, "a deleted file is deleted"


@pytest.mark.parametrize("length", range(0, 100, 7))
def test_partly_written_file_keeps_definition(folder: Path, karta: Karta, length: int) -> None:
    """A writer that is slow may be seen at any byte; a percentage of the file is a table that fits any definition."""
    file = folder / "a.yaml"
    text = karta("A")
    file.write_text(text)
    state = Folder(folder, DefinitionFile).read()
    file.write_text(text[: len(text) * length // 100])

    assert _kinds(state.read()) == ["A"]


def test_empty_file_that_held_nothing_is_not_a_finding(folder: Path) -> None:
    (folder / "a.yaml").write_text("")

    assert layer_of(Folder(folder, DefinitionFile).read()).quarantined == ()


def test_deleted_file_removes_its_definitions(folder: Path, karta: Karta) -> None:
    (folder / "a.yaml").write_text(karta("A"))
    (folder / "b.yaml").write_text(karta("B"))
    state = Folder(folder, DefinitionFile).read()
    (folder / "a.yaml").unlink()

    assert _kinds(state.read()) == ["B"]


def test_deleted_broken_file_leaves_nothing_behind(folder: Path, karta: Karta) -> None:
    file = folder / "a.yaml"
    file.write_text(karta("A"))
    state = Folder(folder, DefinitionFile).read()
    file.write_text("{")
    state = state.read()
    file.unlink()

    layer = layer_of(state.read())
    assert (layer.entries, layer.quarantined) == ((), ())


def test_missing_folder_keeps_serving_and_is_reported(folder: Path, karta: Karta) -> None:
    (folder / "a.yaml").write_text(karta("A"))
    state = Folder(folder, DefinitionFile).read()
    folder.rename(folder.with_name("elsewhere"))

    gone = state.read()
    (quarantined,) = layer_of(gone).quarantined
    assert _kinds(gone) == ["A"]
    assert (quarantined.source, quarantined.serving_last_good) == (str(folder), True)
    assert "No such file" in quarantined.findings[0].message

    folder.mkdir()
    (folder / "b.yaml").write_text(karta("B"))
    assert _kinds(gone.read()) == ["B"]


def test_mounted_config_map_is_swapped_as_a_whole(folder: Path, karta: Karta) -> None:
    for version, kind in (("..v1", "A"), ("..v2", "B")):
        (folder / version).mkdir()
        (folder / version / "karta.yaml").write_text(karta(kind))
    (folder / "..data").symlink_to("..v1")
    (folder / "karta.yaml").symlink_to("..data/karta.yaml")
    state = Folder(folder, DefinitionFile).read()
    assert _kinds(state) == ["A"]

    (folder / "..data_tmp").symlink_to("..v2")
    (folder / "..data_tmp").rename(folder / "..data")

    state = state.read()
    assert _kinds(state) == ["B"]
    assert layer_of(state).quarantined == ()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(b"\xff\xfe", "not UTF-8", id="binary"),
        pytest.param(b" " * (MAX_BYTES + 1), "larger than 4 MiB: split it into files", id="too large"),
        pytest.param(b"a: [", "", id="not YAML"),
    ],
)
def test_unreadable_file_is_quarantined(folder: Path, karta: Karta, content: bytes, says: str) -> None:
    (folder / "a.yaml").write_text(karta("A"))
    (folder / "b.yaml").write_bytes(content)

    state = Folder(folder, DefinitionFile).read()

    (quarantined,) = layer_of(state).quarantined
    assert quarantined.source == str(folder / "b.yaml")
    assert says in quarantined.findings[0].message
    assert _kinds(state) == ["A"]


def test_first_file_by_path_wins_for_a_kind(folder: Path, karta: Karta, gvk: Kind) -> None:
    (folder / "b.yaml").write_text(karta("A", name="second"))
    (folder / "a.yaml").write_text(karta("A", name="first"))

    snapshot = combine([layer_of(Folder(folder, DefinitionFile).read())])

    assert snapshot.entries[gvk("A")].definition.name == "first"
    assert [finding.rule for finding in snapshot.findings] == ["duplicate-kind"]


def test_only_changed_files_are_loaded_again(folder: Path, karta: Karta) -> None:
    for kind in "ABC":
        (folder / f"{kind}.yaml").write_text(karta(kind))
    first = Folder(folder, DefinitionFile).read()
    assert first.read() == first
    (folder / "B.yaml").write_text(karta("D"))

    second = first.read()

    assert _kinds(second) == ["A", "C", "D"]
    old, new = layer_of(first).entries, layer_of(second).entries
    assert [one is other for one, other in zip(old, new, strict=True)] == [True, False, True]


@pytest.mark.parametrize("way", ["in place", "by a rename", "by a link"])
def test_change_that_keeps_size_and_time_is_noticed(folder: Path, karta: Karta, way: str) -> None:
    """As `cp --preserve` writes, where all files of an archive have one time."""
    file, other = folder / "a.yaml", folder.parent / "b.yaml"
    file.write_text(karta("A"))
    state = Folder(folder, DefinitionFile).read()
    status = file.stat()
    other.write_text(karta("B"))
    if way == "in place":
        shutil.copyfile(other, file)
    elif way == "by a rename":
        other.rename(file)
    else:
        file.unlink()
        file.symlink_to(other)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))

    assert file.stat().st_size == status.st_size
    assert _kinds(state.read()) == ["B"]


def test_unreadable_file_is_read_again(folder: Path, karta: Karta, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "a.yaml").write_text(karta("A"))
    good = Folder(folder, DefinitionFile).read()
    (folder / "a.yaml").write_text(karta("B"))
    with monkeypatch.context() as patch:
        patch.setattr(files, "MAX_BYTES", 1)
        broken = good.read()
    assert _kinds(broken) == ["A"]
    assert _kinds(broken.read()) == ["B"]


def test_file_of_usable_definitions_keeps_no_text(folder: Path, karta: Karta) -> None:
    file = folder / "a.yaml"
    good, broken = karta("A"), karta("A", replicas=".a |")
    file.write_text(good)
    state = DefinitionFile(file, keeps_text=False).read()
    assert (state.content, state.holding(good.encode())) == (b"", state)
    assert state.holding(broken.encode()).content == broken.encode(), "the types API shows it"
    assert DefinitionFile(file).read().content == good.encode(), "the command line looks for other objects in it"


def test_new_file_beyond_budget_is_refused_until_another_one_goes(folder: Path, karta: Karta) -> None:
    texts = {name: karta(name) for name in "ABC"}
    budget = Budget(2 * weight(texts["A"].encode()))
    (folder / "b.yaml").write_text(texts["B"])
    (folder / "c.yaml").write_text(texts["C"])
    state = Folder(folder, DefinitionFile, budget=budget).read()
    (folder / "a.yaml").write_text(texts["A"])
    state = state.read()

    assert _kinds(state) == ["B", "C"]
    (refused,) = layer_of(state).quarantined
    assert refused.source == str(folder / "a.yaml")
    assert "remove definitions" in str(refused.findings)
    assert budget.held <= budget.most
    assert len(budget.refused) == 1

    (folder / "c.yaml").unlink()
    assert _kinds(state.read()) == ["A", "B"]
    assert not budget.refused


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("#" * 100_000, id="no room for the new version"),
        pytest.param("{", id="a small broken version counts as the last good one"),
    ],
)
def test_last_good_version_counts_while_it_serves(folder: Path, karta: Karta, gvk: Kind, text: str) -> None:
    file = folder / "a.yaml"
    file.write_text(karta("A", replicas=".spec.good"))
    budget = Budget(weight(file.read_bytes()))
    state = Folder(folder, DefinitionFile, budget=budget).read()
    file.write_text(text)
    (folder / "b.yaml").write_text(karta("B"))
    state = state.read()

    assert _replicas(state, gvk("A")) == ".spec.good"
    assert _kinds(state) == ["A"]
    assert budget.held == budget.most
    (folder / "b.yaml").unlink()
    file.unlink()
    state.read()
    assert budget.held == 0


def test_file_read_alone_gives_back_its_room_when_it_goes(folder: Path, karta: Karta) -> None:
    file = folder / "a.yaml"
    file.write_text(karta("A"))
    budget = Budget(weight(file.read_bytes()))
    state = Folder(folder, DefinitionFile, budget=budget).reread(file)
    assert budget.held == budget.most
    file.unlink()
    state.reread(file)
    assert budget.held == 0
