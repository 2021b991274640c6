"""The comparison of a CRD with a newer one, on small schemas."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from fnmatch import fnmatchcase
from pathlib import Path
from shutil import which
from zipfile import ZipFile

import pytest

from docs.tools.facts import Words
from docs.tools.upstreams import Upstream
from karta_interpreter.base.k8s import GVK, Object
from karta_interpreter.base.k8s.yaml_writer import to_yaml
from tests.catalogue.entries import entries
from tests.proofs.conformance.reasons import Reasons
from tests.proofs.drift.__main__ import REASONS, table
from tests.proofs.drift.comparison import Row, crd_of, differences
from tests.proofs.drift.sources import Module
from tests.proofs.drift.words import new_words
from tests.proofs.rig.toolchain import BuildError

_ANY = {"x-kubernetes-preserve-unknown-fields": True}
_GVK = GVK("jobset.x-k8s.io", "v1alpha2", "JobSet")


class Store:
    """A source with one file in each version."""

    def __init__(self, **files: str) -> None:
        self._files = files

    def releases(self) -> Sequence[str]:
        return list(self._files)

    def has(self, version: str) -> bool:
        return version in self._files

    def files(self, version: str, patterns: Sequence[str]) -> Iterator[tuple[str, str]]:
        yield patterns[0], self._files[version]


def _crd(**replicas: object) -> Object:
    fields = {"replicas": {"type": "integer", **replicas}, "name": {"type": "string"}}
    job = {"type": "object", "properties": {**fields, **dict.fromkeys(("dependsOn", "groupName", "template"), _ANY)}}
    spec = {"type": "object", "properties": {"replicatedJobs": {"type": "array", "items": job}}, **_ANY}
    schema = {"type": "object", "properties": {"spec": spec}, **_ANY}
    version = {"name": "v1alpha2", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": "JobSet", "plural": "jobsets"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "jobsets.jobset.x-k8s.io"},
        "spec": {"group": "jobset.x-k8s.io", "names": names, "versions": [version]},
    }


def _differences(before: Object | None, after: Object) -> list[str]:
    (entry,) = (entry for entry in entries() if entry.definition and entry.definition.gvk == _GVK)
    assert entry.definition
    return list(differences(entry.definition, entry.text, before, after))


def test_same_schema_has_no_difference() -> None:
    assert _differences(_crd(), _crd()) == []


def test_default_of_a_count_is_a_difference() -> None:
    (difference,) = _differences(_crd(default=1), _crd(default=0))
    assert difference == ".spec.replicatedJobs[].replicas is another part: default 1 is 0"


def test_field_that_is_read_and_gone_is_a_difference() -> None:
    after = deepcopy(_crd())
    spec = after["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    del spec["properties"]["replicatedJobs"]["items"]["properties"]["replicas"]
    assert any(".replicas" in each and each.startswith("crd-") for each in _differences(_crd(), after))


def test_without_older_schema_all_findings_are_differences() -> None:
    wrong = _crd(type="string")
    assert set(_differences(None, wrong)) > set(_differences(wrong, wrong))


def test_field_that_is_read_and_in_no_release_is_a_difference() -> None:
    without = deepcopy(_crd())
    spec = without["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    del spec["properties"]["replicatedJobs"]["items"]["properties"]["replicas"]
    assert any(each.startswith("crd-unknown-field") for each in _differences(without, deepcopy(without)))


def test_new_field_is_a_difference() -> None:
    after = deepcopy(_crd())
    spec = after["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["properties"]["surge"] = {"type": "object", "properties": {"minReplicas": {"type": "integer"}}}
    assert _differences(_crd(), after) == [".spec.surge is new"]
    assert _differences(after, deepcopy(after)) == []


def test_changed_field_that_no_expression_reads_is_no_difference() -> None:
    before, after = deepcopy(_crd()), deepcopy(_crd())
    for crd, default in ((before, 1), (after, 2)):
        spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
        spec["properties"]["retries"] = {"type": "integer", "default": default}
    assert _differences(before, after) == []


@pytest.mark.parametrize(("version", "is_there"), [("v1", True), ("v2", False)])
def test_crd_is_found_among_templates(version: str, is_there: bool) -> None:
    text = f"{{{{- if .Values.crds }}}}\n{to_yaml(_crd())}{{{{- end }}}}\n"
    upstream = Upstream(name="JobSet", repository="kubernetes-sigs/jobset", releases={}, crds=("*.yaml",))
    assert (crd_of(upstream, [Store(v1=text)], version, _GVK) is not None) is is_there


def test_table_has_reason_of_row(tmp_path: Path) -> None:
    row = Row("a/v1 Kind", "Project v1 → v2", ".a | .b is another part")
    file = tmp_path / "reasons.yaml"
    file.write_text("- {reason: it is not a count, outcomes: ['a/v1 Kind, Project * → v2: *.a*']}", encoding="utf-8")
    *_, line = table([row], Reasons(file))
    assert line == r"| a/v1 Kind | Project v1 → v2 | .a \| .b is another part | it is not a count |"


def test_reasons_are_about_kinds_of_the_catalogue() -> None:
    kinds = {
        f"{entry.definition.gvk.api_version} {entry.definition.gvk.kind}" for entry in entries() if entry.definition
    }
    for row in Reasons(REASONS).rows:
        assert any(fnmatchcase(kind, row.pattern.partition(", ")[0]) for kind in kinds)


def test_words_of_a_newer_source_need_answers() -> None:
    old = 'const (\n\tPhaseReady = "Ready"\n\tPhaseAway = "Away"\n)\n'
    store = Store(**{"v1.0.0": old, "v1.1.0": old.replace("Away", "Asleep"), "v2.0.0": "package v1"})
    pattern = {"api/types.go": r'^\tPhase\w+ = "(.+)"'}
    words = Words.model_validate(
        {
            "source": {"project": "A", "version": "v1.0.0", "files": pattern},
            "object": {},
            "beside": {},
            "phases": {"Ready": ["healthy"] * 3},
            "made-up": {},
            "left-out": {"Away": "it is in no status"},
        }
    )

    assert list(new_words(words, [store], "v1.0.0")) == []
    assert list(new_words(words, [store], "v1.1.0")) == ["the word Asleep of api/types.go has no answer"]
    assert list(new_words(words, [store], "v2.0.0")) == ["no words in api/types.go"]


def _proxy(folder: Path, module: str, version: str, **files: str) -> None:
    """Store a version of a module as the module proxy has it."""
    place = folder / module / "@v"
    place.mkdir(parents=True)
    (place / f"{version}.info").write_text(f'{{"Version": "{version}"}}')
    (place / f"{version}.mod").write_text(f"module {module}\n")
    with ZipFile(place / f"{version}.zip", "w") as archive:
        for name, text in files.items():
            archive.writestr(f"{module}@{version}/{name}.go", text)


@pytest.mark.skipif(which("go") is None, reason="there is no Go")
def test_folder_that_is_a_module_is_read_from_the_proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"GOPROXY": f"file://{tmp_path}/proxy", "GONOSUMDB": "*", "GOFLAGS": "-modcacherw"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("GOMODCACHE", str(tmp_path / "cache"))
    _proxy(tmp_path / "proxy", "example.io/whole", "v1.3.0", main="package main")
    _proxy(tmp_path / "proxy", "example.io/api", "v0.3.0", types="package api")
    module = Module("example.io/whole", {"staging/api": "example.io/api", "staging/gone": "example.io/gone"})

    assert [*module.files("v1.3.0", ["main.go"])] == [("main.go", "package main")]
    assert [*module.files("v1.3.0", ["staging/api/types.go"])] == [("staging/api/types.go", "package api")]
    with pytest.raises(BuildError, match=r"the module proxy has no example\.io/gone v1\.3\.0"):
        [*module.files("v1.3.0", ["staging/gone/types.go"])]
