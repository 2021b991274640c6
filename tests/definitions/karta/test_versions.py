"""A Karta that describes several versions of a kind: what it means, and who takes precedence for each version."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from karta_interpreter.base.k8s import GVK, edit
from karta_interpreter.base.karmada import Operation
from karta_interpreter.definitions.karta import in_version, kinds_of
from karta_interpreter.definitions.karta.loading import load_definition, load_documents, load_object
from karta_interpreter.definitions.karta.packing import pack, unpack
from karta_interpreter.definitions.sources.files import DefinitionFile, Folder, layer_of
from karta_interpreter.definitions.sources.snapshot import combine
from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.engine.registered.description import describe
from karta_interpreter.export.customization import customization
from tests.support.karta import karta_text
from tests.support.rows import rows

V1, OLD = GVK("example.io", "v1", "Job"), GVK("example.io", "v1beta1", "Job")
_NAME = "karta-interpreter.io/other-versions"


def _karta(others: str = "v1beta1", **annotations: str) -> dict[str, Any]:
    karta: dict[str, Any] = yaml.safe_load(karta_text(name="job-v1"))
    karta["metadata"]["annotations"] = {
        _NAME: others,
        **{f"karta-interpreter.io/{name}": text for name, text in annotations.items()},
    }
    return karta


@rows(
    ("others", "versions"),
    [
        pytest.param("v1beta1, v1alpha1", ["v1", "v1beta1", "v1alpha1"], id="two others"),
        pytest.param("v1, v1beta1,v1beta1", ["v1", "v1beta1"], id="each once"),
        pytest.param("V1, , v 2", ["v1"], id="no names of versions"),
        pytest.param("v1beta1, example.io/v2", ["v1"], id="one of two is no name"),
        pytest.param("v2, v3, v4, v5, v6, v7, v8, v9, v10", ["v1"], id="too many"),
    ],
)
def test_kinds_are_read_of_any_text(others: str, versions: list[str]) -> None:
    assert [gvk.version for gvk in kinds_of(_karta(others))] == versions


def test_without_annotation_there_is_one_version() -> None:
    karta = edit.remove(_karta(), ("metadata", "annotations"))

    assert kinds_of(karta) == (V1,)
    assert load_object(karta, "").others == ()


def test_kinds_of_the_same_group_and_version_move_with_it() -> None:
    entries = [f"- {{apiVersion: {version}, kind: Tool, name: .a}}" for version in ("example.io/v1", "example.io/v1x")]
    karta = _karta(dependencies="\n".join(entries))
    children = [{"group": group, "version": "v1", "kind": kind} for group, kind in (("example.io", "Run"), ("", "Pod"))]
    karta = edit.set_value(karta, ("spec", "structureDefinition", "additionalChildKinds"), children)

    moved = in_version(karta, "v1beta1")

    definition = load_definition(moved)
    assert (definition.gvk, definition.root.gvk) == (OLD, OLD)
    kinds = edit.get(moved, ("spec", "structureDefinition", "additionalChildKinds"))
    assert [kind["version"] for kind in kinds] == ["v1beta1", "v1"]
    named = [getattr(each, "api_version", "") for each in definition.annotations.dependencies]
    assert named == ["example.io/v1beta1", "example.io/v1x"]
    assert kinds_of(moved) == (OLD,)
    assert in_version(karta, "v1") is karta


def test_dependencies_in_json_move_as_well() -> None:
    moved = in_version(_karta(dependencies='[{"apiVersion": "example.io/v1", "kind": "Tool", "name": ".a"}]'), "v2")

    assert '"apiVersion": "example.io/v2"' in moved["metadata"]["annotations"]["karta-interpreter.io/dependencies"]


def test_each_version_has_a_definition_with_the_manifest_as_it_was_written() -> None:
    (loaded,) = load_documents(yaml.safe_dump(_karta()), "jobs.yaml")

    definitions = [version.usable() for version in loaded.versions]
    assert [definition.gvk for definition in definitions] == [V1, OLD]
    assert [definition.object_name for definition in definitions] == ["job-v1", "job-v1beta1"]
    assert [version.findings for version in loaded.versions] == [(), ()]
    assert definitions[0].manifest is definitions[1].manifest
    for definition in definitions:
        assert unpack(pack(definition)).gvk == definition.gvk
        exported = customization(definition, Operation).customization
        assert exported
        assert exported["metadata"]["name"] == definition.object_name
        assert exported["spec"]["target"] == definition.gvk.type_meta


def test_own_definition_of_one_version_takes_precedence_for_this_version_only(tmp_path: Path) -> None:
    (tmp_path / "old.yaml").write_text(
        karta_text("StatefulSet").replace("example.io", "apps.kruise.io").replace("v1\n", "v1alpha1\n")
    )
    kinds = [GVK("apps.kruise.io", version, "StatefulSet") for version in ("v1alpha1", "v1beta1")]

    snapshot = Store([tmp_path]).load()

    assert [snapshot.entries[gvk].definition.name for gvk in kinds] == [
        "statefulset",
        "apps-kruise-io-statefulset-v1beta1",
    ]
    assert [describe(snapshot.entries[gvk])["apiVersion"] for gvk in kinds] == [gvk.api_version for gvk in kinds]


def _snapshot(folder: Path, files: Mapping[str, str]) -> Folder[DefinitionFile]:
    for name, text in files.items():
        (folder / name).write_text(text)
    return Folder(folder, DefinitionFile).read()


def test_two_definitions_of_one_version_are_a_conflict(tmp_path: Path) -> None:
    old = karta_text(name="old").replace("v1\n", "v1beta1\n")
    folder = _snapshot(tmp_path, {"a.yaml": yaml.safe_dump(_karta()), "b.yaml": old})

    snapshot = combine([layer_of(folder)])

    (finding,) = snapshot.findings
    assert finding.rule == "duplicate-kind"
    assert finding.message.startswith("example.io/v1beta1, Kind=Job: job-v1 from ")
    assert snapshot.kinds() == [V1, OLD]


def test_broken_karta_leaves_both_versions_as_they_were(tmp_path: Path) -> None:
    folder = _snapshot(tmp_path, {"a.yaml": yaml.safe_dump(_karta())})

    (tmp_path / "a.yaml").write_text(yaml.safe_dump(_karta()).replace(".spec.replicas", ".spec |"))
    folder = folder.read()

    layer = layer_of(folder)
    assert [entry.definition.gvk for entry in layer.entries] == [V1, OLD]
    assert [(broken.gvk, broken.serving_last_good) for broken in layer.quarantined] == [(V1, True), (OLD, True)]
    assert len([finding for broken in layer.quarantined for finding in broken.findings]) == 1
