"""Everything that keeps a commit from being released, at once."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import yaml

from deploy.release import changelog, project, source
from deploy.release.project import CHARTS, Project

_MOST_SHOWN = 5


def findings(root: Path, tag: str | None) -> list[str]:
    """Return what is wrong, for a tag or, without one, for a commit that could be tagged later."""
    stated = project.read(root)
    found = [*project.disagreements(root, stated.version), *_addresses(root, stated), *_changes(root, stated, tag)]
    return found if tag is None else [*found, *_answers(root, stated), *_tag(root, stated, tag)]


def _addresses(root: Path, stated: Project) -> Iterator[str]:
    for chart in CHARTS:
        folder = root / "deploy" / "helm" / chart
        metadata = yaml.safe_load((folder / "Chart.yaml").read_text(encoding="utf-8"))
        for field, actual in (
            ("home", metadata.get("home")),
            *(("sources", each) for each in metadata.get("sources", ())),
        ):
            if not str(actual).startswith(stated.repository):
                yield f"{chart}/Chart.yaml: {field} {actual} is not below {stated.repository}, as in pyproject.toml"
        image = yaml.safe_load((folder / "values.yaml").read_text(encoding="utf-8")).get("image")
        if image and image["repository"] != stated.image:
            yield f"{chart}/values.yaml: image.repository is {image['repository']}; releases are in {stated.image}"


def _changes(root: Path, stated: Project, tag: str | None) -> Iterator[str]:
    known = changelog.sections((root / "CHANGELOG.md").read_text(encoding="utf-8"))
    section, unreleased = known.get(stated.version), known.get(changelog.UNRELEASED)
    if not section:
        yield f"CHANGELOG.md: there is no section [{stated.version}]; run `make version VERSION=…`"
    elif not section.date:
        yield f"CHANGELOG.md: section [{stated.version}] has no date"
    elif not section.body:
        yield f"CHANGELOG.md: section [{stated.version}] is empty"
    if unreleased is None:
        yield f"CHANGELOG.md: there is no section [{changelog.UNRELEASED}]"
    elif tag and unreleased.body:
        yield f"CHANGELOG.md: [{changelog.UNRELEASED}] has changes that the commit contains; move them to [{tag[1:]}]"


def _answers(root: Path, stated: Project) -> Iterator[str]:
    known = list(changelog.sections((root / "CHANGELOG.md").read_text(encoding="utf-8")).values())
    for section, earlier in pairwise(known):
        heading = f"### Answers of the catalogue since v{earlier.version}"
        if section.version == stated.version and heading not in section.body.splitlines():
            yield (
                f"CHANGELOG.md: section [{stated.version}] has no answers that changed;"
                f" run `make catalogue-diff FROM=v{earlier.version}` before `make version`"
            )


def _tag(root: Path, stated: Project, tag: str) -> Iterator[str]:
    if tag != stated.tag:
        yield f"tag {tag}: pyproject.toml has version {stated.version}, whose tag is {stated.tag}"
    if source.revision(root, f"refs/tags/{tag}") != source.revision(root):
        yield f"tag {tag}: it is not on the commit that is checked out"
    changed = source.uncommitted(root)
    if changed:
        more = f" and {len(changed) - _MOST_SHOWN} more" if len(changed) > _MOST_SHOWN else ""
        yield f"the work tree differs from the commit: {', '.join(changed[:_MOST_SHOWN])}{more}"
