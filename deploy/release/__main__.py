"""Check, build, verify and publish a release: ``python -m deploy.release COMMAND``. RELEASING.md has the whole way."""

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from deploy.release import changelog, checks, files, goals, page, project, registry, source, verify
from deploy.release.project import ROOT, Project
from deploy.write_kustomize import tool

_TOOLS = ("helm", "kustomize", "crane")


def check(root: Path, tag: str | None) -> None:
    """Stop with everything that keeps the commit from being released."""
    found = checks.findings(root, tag)
    if found:
        raise SystemExit("\n".join(["this cannot be released:", *(f"- {each}" for each in found)]))
    _say(f"version {project.read(root).version} agrees in all places" + (f", with tag {tag}" if tag else ""))


def build(root: Path, tag: str | None, digest: str | None) -> None:
    """Check the commit, build every file of its release into dist/release, and verify them."""
    if not source.revision(root):
        _say("skipped: a release is built from a commit, and this is not a git checkout")
        return
    check(root, tag)
    if not tag and source.uncommitted(root):
        _say("uncommitted changes are left out: files are built from the commit")
    target = _target(root)
    missing = [name for name in _TOOLS if not tool(name)]
    if tag and missing:
        raise SystemExit(f"a release needs {' and '.join(missing)}: run `make tools`")
    if tag and not re.fullmatch(r"sha256:[0-9a-f]{64}", digest or ""):
        raise SystemExit(f"a release needs the digest of the image, DIGEST=sha256:…, not {digest!r}")
    stated = files.write(root, target, digest, with_charts="helm" not in missing)
    _verify(root, stated, missing)
    for path in sorted(target.iterdir()):
        _say(f"{path.stat().st_size:>9,}  {path.relative_to(root)}")
    if not tag:
        _say(goals.image(root))


def version(root: Path, text: str) -> None:
    """Put a version into all places, and give the unreleased changes its name and today's date."""
    path = root / "CHANGELOG.md"
    dated = changelog.released(path.read_text(encoding="utf-8"), text, datetime.now(UTC).date().isoformat())
    project.write(root, text)
    path.write_text(dated, encoding="utf-8")
    _say(f"version {text} is written; commit it, and tag the commit v{text}")


def addresses(root: Path) -> None:
    """Print what the workflow of releases needs to know, as outputs of a step."""
    stated = project.read(root)
    _say(f"version={stated.version}\nimage={stated.image}")


def push_charts(root: Path) -> None:
    """Push the charts in dist/release, and sign them."""
    stated = project.read(root)
    for pushed in registry.push(_target(root), stated, stated.charts, sign=True):
        _say(f"pushed and signed: {pushed}")


def publish_page(root: Path) -> None:
    """Write the page on GitHub, with the files in dist/release."""
    page.publish(_target(root), project.read(root))


def _target(root: Path) -> Path:
    return root / "dist" / "release"


def _verify(root: Path, stated: Project, missing: Sequence[str]) -> None:
    target = _target(root)
    steps: list[tuple[str, tuple[str, ...], Callable[[], None]]] = [
        ("checksums", (), lambda: verify.checksums(target)),
        ("the wheel in a new environment", (), lambda: verify.wheel(target, root, stated)),
        ("both charts", ("helm",), lambda: verify.charts(target, stated)),
        ("the kustomize bundle", ("kustomize",), lambda: verify.kustomize(target, stated)),
        ("a push to a registry", ("helm", "crane"), lambda: registry.rehearse(target, stated)),
    ]
    for what, needs, step in steps:
        lacking = [name for name in needs if name in missing]
        if lacking:
            _say(f"skipped: {what}; {lacking[0]} is missing, `make tools` builds it")
        else:
            step()
            _say(f"verified: {what}")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main(arguments: list[str], root: Path = ROOT) -> None:
    """Run one command."""
    parser = argparse.ArgumentParser(prog="python -m deploy.release", description=__doc__)
    commands = parser.add_subparsers(required=True)

    def command(name: str, run: Callable[..., None]) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=run.__doc__, description=run.__doc__)
        added.set_defaults(run=run)
        return added

    building = command("build", build)
    for each in (command("check", check), building):
        each.add_argument("--tag", type=_given, help="git tag that is released; without it, a rehearsal")
    building.add_argument("--digest", type=_given, help="digest of the image that was pushed")
    command("version", version).add_argument("text", metavar="VERSION")
    command("addresses", addresses)
    command("push-charts", push_charts)
    command("page", publish_page)
    given = vars(parser.parse_args(arguments))
    given.pop("run")(root, **given)


def _given(text: str) -> str | None:
    """Return None for a variable of make that is empty."""
    return text or None


if __name__ == "__main__":
    main(sys.argv[1:])
