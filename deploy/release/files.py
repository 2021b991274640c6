"""Every file of a release in one folder, with their checksums."""

import hashlib
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from deploy.release import archive, changelog, charts, goals, notes, packages, project, source
from deploy.release.changelog import Section
from deploy.release.project import CHARTS, Project

SUMS = "SHA256SUMS"
_COPIED = (
    "deploy/helm/karta-interpreter-control-plane/files/kartas.run.ai.yaml",
    "docs/karta.schema.json",
)
_LICENSES = "THIRD_PARTY_LICENSES"


def write(root: Path, target: Path, digest: str | None, *, with_charts: bool = True) -> Project:
    """Write the files that need no account, from the commit that is checked out; charts need helm."""
    stated, epoch = project.read(root), source.epoch(root)
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    with TemporaryDirectory() as scratch:
        tree, other, again = (Path(scratch) / name for name in ("tree", "other", "again"))
        checkouts = source.checkout(root, tree), source.checkout(root, other)
        for each in checkouts:
            packages.build_page(each)
            packages.compile_catalogue(each)
        packages.build(checkouts, target, again, epoch)
        section = current((tree / "CHANGELOG.md").read_text(encoding="utf-8"), stated.version)
        for chart in CHARTS if with_charts else ():
            charts.package(charts.publish(tree, chart, stated, section, digest), target, epoch)
        _copy(tree, target, stated, epoch)
    shutil.copyfile(goals.bill_of_materials(root), target / f"karta-interpreter-{stated.version}.cdx.json")
    (target / SUMS).write_text(sums(target), encoding="utf-8")
    (target / notes.FILE).write_text(notes.text(stated, section, digest), encoding="utf-8")
    return stated


def _copy(tree: Path, target: Path, stated: Project, epoch: int) -> None:
    name = f"karta-interpreter-kustomize-{stated.version}"
    archive.write(target / f"{name}.tar.gz", archive.files_of(tree / "deploy" / "kustomize", name), epoch)
    for path in (*_COPIED, *((_LICENSES,) if (tree / _LICENSES).is_file() else ())):
        shutil.copyfile(tree / path, target / Path(path).name)


def current(text: str, version: str) -> Section:
    """Return what the commit changes: the unreleased section, or when that is empty the one of the version."""
    known = changelog.sections(text)
    unreleased = known[changelog.UNRELEASED]
    return unreleased if unreleased.body else known[version]


def sums(folder: Path) -> str:
    """Return the checksums of all files, as ``sha256sum`` prints them."""
    paths = sorted(path for path in folder.iterdir() if path.is_file())
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in paths)
