"""What a package index shows of a release."""

import re
import sys
import tomllib
from pathlib import Path

from packaging.metadata import Metadata
from readme_renderer.markdown import render

ROOT = Path(__file__).parents[3]


def rendered(metadata: Metadata) -> str:
    """The HTML of the description, which an index shows; empty when it shows plain text."""
    return render(metadata.description or "", stream=sys.stderr) or ""


def test_metadata_is_complete_for_an_index(metadata: Metadata) -> None:
    assert metadata.license_expression == "Apache-2.0"
    assert "LICENSE" in (metadata.license_files or ())
    assert {"Homepage", "Documentation", "Changelog", "Issues", "Repository"} == set(metadata.project_urls or ())


def test_supported_pythons_are_named(metadata: Metadata) -> None:
    prefix = "Programming Language :: Python :: 3."
    named = {each.removeprefix(prefix) for each in metadata.classifiers or () if each.startswith(prefix)}
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    tested = re.search(r"python: \[(.*)\]", workflow)

    assert tested
    assert named == {each.strip(' "').removeprefix("3.") for each in tested[1].split(",")}
    assert str(metadata.requires_python) == f">=3.{min(named, key=int)}"


def test_extras_are_those_of_pyproject(metadata: Metadata) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    assert set(metadata.provides_extra or ()) == project["optional-dependencies"].keys()


def test_description_is_the_readme_and_renders(metadata: Metadata) -> None:
    assert metadata.description_content_type == "text/markdown"
    assert rendered(metadata)


def test_links_of_the_description_lead_to_files_of_the_release(metadata: Metadata) -> None:
    links = set(re.findall(r'(?:href|src)="([^#"][^"]*)"', rendered(metadata)))
    version = f"/v{metadata.version}/"
    files = {link.partition(version)[2].partition("#")[0] for link in links if version in link}

    assert files
    assert not {link for link in links if not link.startswith("https://")}
    assert not {file for file in files if not (ROOT / file).exists()}
