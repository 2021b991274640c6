"""What is published: archives, charts with their metadata, and the steps that find a broken file."""

import os
import re
import shutil
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import pytest
import yaml

from deploy.release import archive, changelog, charts, files, goals, packages, page, project, registry, verify
from deploy.release.project import CHARTS, ROOT, Project
from deploy.write_kustomize import tool
from karta_interpreter import Karta
from tests.deploy.rendered import needs_helm, needs_kustomize

pytestmark = pytest.mark.slow

STATED = project.read()
DIGEST = f"sha256:{'0' * 64}"
CHANGES = "### Added\n- A: `b`.\n\n### Security\n- C.\n\n### Answers\n- D."
SECTION = changelog.Section(STATED.version, "2026-01-01", CHANGES)
needs_crane = pytest.mark.skipif(not tool("crane"), reason="crane is missing: run `make tools`")


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both charts as they are published, packed."""
    tree, packed = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("packed")
    for name in ("deploy/helm", "docs/examples"):
        shutil.copytree(ROOT / name, tree / name)
    for chart in CHARTS:
        charts.package(charts.publish(tree, chart, STATED, SECTION, DIGEST), packed, 0)
    return packed


def packed_file(target: Path, chart: str, name: str) -> str:
    return archive.contents(target / f"{chart}-{STATED.version}.tgz")[f"{chart}/{name}"].decode()


def test_archive_has_no_trace_of_the_build(tmp_path: Path) -> None:
    contents = {"a/b": b"1", "a/c": b"2"}
    archive.write(tmp_path / "one.tar.gz", contents, 1_700_000_000)
    os.utime(tmp_path / "one.tar.gz", (0, 0))
    archive.write(tmp_path / "two.tar.gz", contents, 1_700_000_000)
    assert (tmp_path / "one.tar.gz").read_bytes() == (tmp_path / "two.tar.gz").read_bytes()
    assert archive.contents(tmp_path / "one.tar.gz") == contents


PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "karta-interpreter"
version = "1.0.0"
[tool.hatch.build.targets.wheel]
include = ["*.py"]
[tool.hatch.build.targets.sdist]
include = ["*.py"]
"""


@pytest.mark.parametrize(
    ("first", "second", "different"),
    [
        pytest.param("a = 1", "a = 1", "", id="the same commit"),
        pytest.param("a = 1", "a = 2", r"differ: .*\.tar\.gz, .*\.whl$", id="something that changes with each build"),
    ],
)
def test_packages_are_built_twice(tmp_path: Path, first: str, second: str, different: str) -> None:
    for name, text in (("one", first), ("two", second)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pyproject.toml").write_text(PROJECT)
        (tmp_path / name / "a.py").write_text(text)
    with pytest.raises(SystemExit, match=different) if different else nullcontext():
        packages.build((tmp_path / "one", tmp_path / "two"), tmp_path / "built", tmp_path / "again", 1_700_000_000)
    assert len(list((tmp_path / "built").iterdir())) == 2


@needs_helm
def test_chart_has_same_bytes_each_time(target: Path, tmp_path: Path) -> None:
    for name in ("deploy/helm", "docs/examples"):
        shutil.copytree(ROOT / name, tmp_path / name)
    again = charts.package(charts.publish(tmp_path, CHARTS[0], STATED, SECTION, DIGEST), tmp_path, 0)
    assert again.read_bytes() == (target / again.name).read_bytes()


def is_url(value: object) -> bool:
    parts = urlparse(str(value))
    return parts.scheme == "https" and bool(parts.netloc)


def entries(fields: dict[str, Callable[[Any], bool]]) -> Callable[[str], bool]:
    """Read a YAML list whose entries have these fields and no others."""

    def holds(text: str) -> bool:
        found = yaml.safe_load(text)
        return bool(found) and all(
            each.keys() == fields.keys() and all(check(each[name]) for name, check in fields.items()) for each in found
        )

    return holds


def is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def is_image(value: str) -> bool:
    return bool(re.fullmatch(r"ghcr\.io(/[a-z0-9-]+)+:[\w.-]+@sha256:[0-9a-f]{64}", value))


def is_pair(value: object) -> bool:
    return value == ["linux/amd64", "linux/arm64"]


KINDS = {"added", "changed", "deprecated", "removed", "fixed", "security"}
CATEGORIES = {"ai-machine-learning", "integration-delivery", "monitoring-logging", "networking", "skip-prediction"}
COMMON: dict[str, Callable[[str], bool]] = {
    "category": CATEGORIES.__contains__,
    "changes": entries({"kind": KINDS.__contains__, "description": is_text}),
    "containsSecurityUpdates": {"true"}.__contains__,
    "license": {"Apache-2.0"}.__contains__,
    "links": entries({"name": is_text, "url": is_url}),
    "operator": {"true", "false"}.__contains__,
    "prerelease": {"true", "false"}.__contains__,
}
"""Artifact Hub's format: https://artifacthub.io/docs/topics/annotations/helm/"""
OWN: dict[str, dict[str, Callable[[str], bool]]] = {
    CHARTS[0]: {"images": entries({"name": is_text, "image": is_image, "platforms": is_pair})},
    CHARTS[1]: {
        "crds": entries(dict.fromkeys(("kind", "version", "name", "displayName", "description"), is_text)),
        "crdsExamples": lambda text: all(Karta.load(each) for each in yaml.safe_load(text)),
    },
}


@needs_helm
@pytest.mark.parametrize("chart", CHARTS)
def test_artifact_hub_can_read_every_annotation(target: Path, chart: str) -> None:
    found = yaml.safe_load(packed_file(target, chart, "Chart.yaml"))["annotations"]
    format_ = {f"artifacthub.io/{name}": check for name, check in (COMMON | OWN[chart]).items()}
    assert found.keys() == format_.keys()
    assert [name for name, check in format_.items() if not check(found[name])] == []


@needs_helm
@pytest.mark.parametrize("chart", CHARTS)
def test_metadata_names_people_and_places(target: Path, chart: str) -> None:
    found = yaml.safe_load(packed_file(target, chart, "Chart.yaml"))
    assert [url for url in (found["home"], found["icon"], *found["sources"]) if not is_url(url)] == []
    assert all(is_text(each["name"]) and is_url(each["url"]) for each in found["maintainers"])
    icon = ROOT / found["icon"].partition("/main/")[2]
    assert icon.read_text().startswith("<svg ")


@needs_helm
@pytest.mark.parametrize("chart", CHARTS)
def test_chart_page_has_absolute_links(target: Path, chart: str) -> None:
    page_ = packed_file(target, chart, "README.md")
    assert [link for link in re.findall(r"\]\(([^)]+)\)", page_) if not is_url(link)] == []
    assert f"{STATED.charts}/{chart} --version {STATED.version}" in page_
    assert " deploy/helm" not in page_


@needs_helm
def test_pods_run_the_published_image(target: Path) -> None:
    verify.charts(target, STATED)
    with pytest.raises(SystemExit, match=rf"instead of \['ghcr.io/other/karta-interpreter:{STATED.version}'\]"):
        verify.charts(target, Project(STATED.version, "https://github.com/other/karta-interpreter"))


@needs_kustomize
def test_kustomize_bundle_builds_by_itself(tmp_path: Path) -> None:
    name = f"karta-interpreter-kustomize-{STATED.version}"
    found = archive.files_of(ROOT / "deploy" / "kustomize", name)
    archive.write(tmp_path / f"{name}.tar.gz", found, 0)
    verify.kustomize(tmp_path, STATED)
    archive.write(tmp_path / f"{name}.tar.gz", {k: v for k, v in found.items() if "base/service.yaml" not in k}, 0)
    with pytest.raises(SystemExit, match=r"service\.yaml"):
        verify.kustomize(tmp_path, STATED)


def test_changed_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    (tmp_path / "b").write_text("2")
    (tmp_path / files.SUMS).write_text(files.sums(tmp_path))
    verify.checksums(tmp_path)
    (tmp_path / "b").write_text("3")
    with pytest.raises(SystemExit, match=r"^b: its checksum"):
        verify.checksums(tmp_path)


def stand_in(folder: Path, name: str, script: str) -> None:
    """Put a program before the real one."""
    (folder / name).write_text(f'#!/bin/sh\necho "$@" >> {folder}/calls\n{script}\n')
    (folder / name).chmod(0o755)


@needs_helm
@needs_crane
def test_charts_are_signed_by_the_digest_that_was_pushed(
    target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, "cosign", "")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    registry.rehearse(target, STATED)
    with registry.local() as host:
        for _ in range(2):  # again, after a step that failed
            pushed = registry.push(target, STATED, f"oci://{host}/charts", sign=True, plain_http=True)
    assert [re.sub(r"@sha256:[0-9a-f]{64}$", "", each) for each in pushed] == [f"{host}/charts/{c}" for c in CHARTS]
    assert (tmp_path / "calls").read_text().splitlines() == [f"sign --yes {each}" for each in pushed] * 2


@pytest.mark.parametrize(
    ("version", "there", "calls"),
    [
        pytest.param("1.0.0", False, ["view", "create --draft", "upload", "edit"], id="new"),
        pytest.param("1.0.0-rc.1", False, ["view", "create --draft --prerelease", "upload", "edit"], id="prerelease"),
        pytest.param("1.0.0", True, ["view", "upload", "edit"], id="after an attempt that failed"),
    ],
)
def test_page_is_published_with_all_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, there: bool, calls: list[str]
) -> None:
    programs, folder = tmp_path / "programs", tmp_path / "files"
    programs.mkdir()
    folder.mkdir()
    for name in ("a.tgz", files.SUMS, "RELEASE_NOTES.md"):
        (folder / name).touch()
    stand_in(programs, "gh", f'[ "$2" != view ] || exit {int(not there)}')
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)

    page.publish(folder, Project(version, "https://github.com/a/b"))

    made = (programs / "calls").read_text().splitlines()
    shown = [" ".join([line.split()[1], *re.findall(r"--draft\b(?!=)|--prerelease", line)]) for line in made]
    assert shown == calls
    assert made[-2] == f"release upload v{version} --clobber {folder}/{files.SUMS} {folder}/a.tgz"


def test_failing_step_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, "gh", "echo no permission >&2; exit 1")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(SystemExit, match=r"create.*no permission"):
        page.publish(tmp_path, STATED)


@pytest.mark.parametrize(
    ("engine", "said", "built"),
    [
        pytest.param("exit 1", "skipped: the image; neither podman nor docker works here", False, id="no daemon"),
        pytest.param("exit 0", "built: the image, by docker", True, id="an engine that works"),
    ],
)
def test_image_is_built_if_an_engine_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str, said: str, built: bool
) -> None:
    make = shutil.which("make")
    assert make
    (tmp_path / "make").symlink_to(make)
    (tmp_path / "Makefile").write_text("image:\n\t@echo image >> calls\n")
    stand_in(tmp_path, "docker", engine)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    if shutil.which("podman"):
        stand_in(tmp_path, "podman", "exit 1")

    assert goals.image(tmp_path).startswith(said)
    assert ("image" in (tmp_path / "calls").read_text().splitlines()) is built


def test_sbom_is_that_of_the_commit(tmp_path: Path) -> None:
    (tmp_path / "dist").mkdir()
    for text in ("one", "two"):
        (tmp_path / "Makefile").write_text(f"sbom:\n\t@echo {text} > dist/karta-interpreter.cdx.json\n")
        assert goals.bill_of_materials(tmp_path).read_text() == f"{text}\n"


def test_makefile_has_goals_of_a_release() -> None:
    found = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert found >= {"image", "image-test", "sbom"}
