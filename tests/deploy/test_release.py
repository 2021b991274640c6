"""Which commits can be released, and what `make version` writes."""

import doctest
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

from deploy.release import changelog, charts, checks, notes, project, source
from deploy.release.__main__ import main
from deploy.release.project import CHARTS, PLACES, Place, Project
from tests.deploy.rendered import needs_helm

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
VERSION = project.read(ROOT).version
NEXT = "7.8.9"
ANSWERS = f"### Answers of the catalogue since v{VERSION}"
HUB = "https://github.com/karta-interpreter/karta-interpreter"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git repository with the files that name the version, and something to release."""
    metadata = [f"deploy/helm/{chart}/{file}" for chart in CHARTS for file in ("Chart.yaml", "values.yaml")]
    for name in {"pyproject.toml", *metadata, *(place.path for place in PLACES)}:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, tmp_path / name)
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changelog\n\n## [Unreleased]\n\n### Fixed\n- A thing.\n\n<!-- answers: begin -->\n"
        f"{ANSWERS}\n- One.\n<!-- answers: end -->\n\n## [{VERSION}] - 2026-01-01\n\n### Added\n- Everything.\n"
    )
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "install.md").write_text(f"docker pull REGISTRY/karta-interpreter:{VERSION}\n")
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    commit(tmp_path)
    return tmp_path


def git(folder: Path, *arguments: str) -> None:
    settings = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *settings, *arguments], cwd=folder, check=True)


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message=a")


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_present_commit_has_no_findings() -> None:
    assert checks.findings(ROOT, None) == []


def test_release_is_two_commands(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["version", NEXT], root=repository)
    commit(repository)
    git(repository, "tag", f"v{NEXT}")

    main(["check", "--tag", f"v{NEXT}"], root=repository)

    assert f"version {NEXT} agrees in all places, with tag v{NEXT}" in capsys.readouterr().out
    assert f"karta-interpreter:{NEXT}\n" in (repository / "docs" / "install.md").read_text()
    assert f"latest minor version ({NEXT[:3]})" in (repository / "SECURITY.md").read_text()
    known = changelog.sections((repository / "CHANGELOG.md").read_text())
    assert list(known) == ["Unreleased", NEXT, VERSION]
    assert known[NEXT].body == f"### Fixed\n- A thing.\n\n{ANSWERS}\n- One."


@needs_helm
@pytest.mark.parametrize("digest", ["", "1234", "sha256:12"])
def test_release_needs_a_digest(repository: Path, digest: str) -> None:
    main(["version", NEXT], root=repository)
    commit(repository)
    git(repository, "tag", f"v{NEXT}")
    with pytest.raises(SystemExit, match=r"a release needs (the digest|kustomize|crane)"):
        main(["build", "--tag", f"v{NEXT}", "--digest", digest], root=repository)
    assert not (repository / "dist").exists()


def test_release_has_its_changed_answers(repository: Path) -> None:
    edit(repository / "CHANGELOG.md", ANSWERS, "### Answers")
    main(["version", NEXT], root=repository)
    commit(repository)
    git(repository, "tag", f"v{NEXT}")
    [found] = checks.findings(repository, f"v{NEXT}")
    assert f"run `make catalogue-diff FROM=v{VERSION}`" in found


def test_findings_of_release_are_named_together(repository: Path) -> None:
    edit(repository / "pyproject.toml", f'version = "{VERSION}"', f'version = "{NEXT}"')
    with pytest.raises(SystemExit) as stopped:
        main(["check", "--tag", "v1.0.0"], root=repository)
    found = str(stopped.value)
    assert [place.path for place in PLACES if place.required and place.path not in found] == []
    assert f"there is no section [{NEXT}]" in found
    assert "[Unreleased] has changes that the commit contains" in found
    assert f"pyproject.toml has version {NEXT}, whose tag is v{NEXT}" in found
    assert "it is not on the commit that is checked out" in found
    assert "the work tree differs from the commit: pyproject.toml" in found


@pytest.mark.parametrize(
    ("file", "old", "new", "finding"),
    [
        pytest.param(f"deploy/helm/{CHARTS[0]}/Chart.yaml", f"appVersion: {VERSION}", "appVersion: 9.9.9", "9.9.9",
            id="chart"),
        pytest.param("interpreter/karta_interpreter/__init__.py", "__version__ =", "version =", "there is no version",
            id="gone"),
        pytest.param("docs/install.md", f"interpreter:{VERSION}", "interpreter:9.9.9", "9.9.9", id="shown"),
        pytest.param("SECURITY.md", "(0.", "(9.", "SECURITY.md: version 9.", id="the supported minor version"),
        pytest.param("CHANGELOG.md", " - 2026-01-01", "", "has no date", id="a section without a date"),
        pytest.param("CHANGELOG.md", "### Added\n- Everything.\n", "", "is empty", id="a section without changes"),
        pytest.param("CHANGELOG.md", "## [Unreleased]", "## [Next]", "no section [Unreleased]", id="no next section"),
        pytest.param(f"deploy/helm/{CHARTS[1]}/Chart.yaml", f"home: {HUB}", "home: https://a.example", "home",
            id="another home"),
        pytest.param(f"deploy/helm/{CHARTS[0]}/values.yaml", "ghcr.io/karta-interpreter/", "", "releases are in",
            id="image"),
    ],
)  # fmt: skip
def test_version_difference_is_a_finding(repository: Path, file: str, old: str, new: str, finding: str) -> None:
    assert checks.findings(repository, None) == []
    edit(repository / file, old, new)
    [found] = checks.findings(repository, None)
    assert found.startswith((file, f"{Path(file).parent.name}/{Path(file).name}"))
    assert finding in found


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        pytest.param("0.2", "is not a version", id="too short"),
        pytest.param("v0.2.0", "is not a version", id="a tag"),
        pytest.param("0.2.0rc1", "is not a version", id="not a version for Helm"),
        pytest.param(VERSION, "is there already", id="released before"),
    ],
)
def test_impossible_version_changes_no_file(repository: Path, wanted: str, reason: str) -> None:
    with pytest.raises(SystemExit, match=reason):
        main(["version", wanted], root=repository)
    assert source.uncommitted(repository) == []


def test_prerelease_has_minor_version() -> None:
    assert Place("", "", minor=True).of("0.2.0-rc.1") == "0.2"
    assert [Project(version, "").prerelease for version in ("0.2.0", "0.2.0-rc.1")] == [False, True]


def test_without_git_nothing_is_released(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["build"], root=tmp_path)
    assert capsys.readouterr().out == "skipped: a release is built from a commit, and this is not a git checkout\n"


def test_notes_break_no_lines_and_lead_to_the_repository() -> None:
    section = changelog.Section("1.0.0", None, "### Added\n- One\n  [thing](docs/a.md).\n- Two.")
    text = notes.text(Project("1.0.0", "https://github.com/Example/karta"), section, "sha256:1")
    assert "- One [thing](https://github.com/Example/karta/blob/v1.0.0/docs/a.md).\n- Two.\n" in text
    assert "`ghcr.io/example/karta-interpreter:1.0.0@sha256:1` for linux/amd64 and linux/arm64" in text


@pytest.mark.parametrize("module", [changelog, charts, project])
def test_examples_of_docstrings(module: ModuleType) -> None:
    done = doctest.testmod(module)
    assert done.attempted
    assert done.failed == 0
