"""What the repository states about itself: its version and its addresses, and every file that repeats them."""

import posixpath
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
CHARTS = ("karta-interpreter", "karta-interpreter-control-plane")
_CHART = "deploy/helm/{}/Chart.yaml"
_PLAIN = r"\d+\.\d+\.\d+(?:-(?:alpha|beta|rc)\.\d+)?"


@dataclass(frozen=True)
class Place:
    """A file that repeats the version, and the expression whose group finds it there."""

    path: str
    pattern: str
    required: bool = True
    minor: bool = False

    def of(self, version: str) -> str:
        """Return what a version is here: all of it, or the minor version."""
        return ".".join(version.split(".")[:2]) if self.minor else version


PLACES = (
    Place("interpreter/karta_interpreter/__init__.py", r'^__version__ = "(.+)"$'),
    *(Place(_CHART.format(chart), r"^(?:version|appVersion): (.+)$") for chart in CHARTS),
    Place("SECURITY.md", r"latest minor version \(([\d.]+)\)", minor=True),
    Place("deploy/Containerfile", r"^ARG VERSION=(.+)$", required=False),
)
"""Written by ``make version``. What ``make generate`` writes repeats the version, too, and is not here."""
_IMAGE = rf"karta-interpreter:({_PLAIN})\b"
_SHOWING = ("README.md", "docs/*.md", "deploy/Containerfile", "deploy/*.sh")


@dataclass(frozen=True)
class Project:
    """The version in pyproject.toml, and the addresses that follow from the URL of the repository there."""

    version: str
    repository: str

    @property
    def tag(self) -> str:
        """Return the git tag of the version."""
        return f"v{self.version}"

    @property
    def prerelease(self) -> bool:
        """Return whether the version comes before the one that it names, such as 0.2.0-rc.1."""
        return "-" in self.version

    @property
    def registry(self) -> str:
        """Return the prefix of all images and charts.

        >>> Project("0.1.0", "https://github.com/Example/karta").registry
        'ghcr.io/example'
        """
        owner = self.repository.removeprefix("https://github.com/").partition("/")[0]
        return f"ghcr.io/{owner.lower()}"

    @property
    def image(self) -> str:
        """Return the repository of the image."""
        return f"{self.registry}/karta-interpreter"

    @property
    def charts(self) -> str:
        """Return the address below which the charts are."""
        return f"oci://{self.registry}/charts"

    @property
    def downloads(self) -> str:
        """Return the address of the files of the release."""
        return f"{self.repository}/releases/download/{self.tag}"

    @property
    def tree(self) -> str:
        """Return the address below which the files of the repository are, as they are in the release."""
        return f"{self.repository}/blob/{self.tag}"

    def linked(self, text: str, folder: str = ".") -> str:
        """Return Markdown of a folder of the repository with links that work elsewhere.

        >>> stated = Project("0.2.0", "https://github.com/example/karta")
        >>> stated.linked("[a](../a.md#b) [c](https://c) [d](#d)", "docs")
        '[a](https://github.com/example/karta/blob/v0.2.0/a.md#b) [c](https://c) [d](#d)'
        """

        def absolute(link: re.Match[str]) -> str:
            return f"]({self.tree}/{posixpath.normpath(posixpath.join(folder, link[1]))})"

        return re.sub(r"\]\((?!\w+:|#)([^)]+)\)", absolute, text)


def read(root: Path = ROOT) -> Project:
    """Return what pyproject.toml says."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return Project(project["version"], project["urls"]["Repository"])


def places(root: Path) -> tuple[Place, ...]:
    """Return the places of a version, with those that show a command with the image."""
    showing = (path.relative_to(root) for pattern in _SHOWING for path in sorted(root.glob(pattern)))
    return (*PLACES, *(Place(str(path), _IMAGE, required=False) for path in showing))


def named(root: Path, place: Place) -> list[str]:
    """Return the versions that a place has."""
    text = (root / place.path).read_text(encoding="utf-8")
    return re.findall(place.pattern, text, re.MULTILINE)


def disagreements(root: Path, version: str) -> Iterator[str]:
    """Yield a finding for each place that has another version."""
    for place in places(root):
        found = named(root, place)
        if place.required and not found:
            yield f"{place.path}: there is no version; expected {place.of(version)} by /{place.pattern}/"
        for other in sorted(set(found) - {place.of(version)}):
            yield f"{place.path}: version {other}, but pyproject.toml has {version}; run `make version VERSION=…`"


def write(root: Path, version: str) -> None:
    """Put a version into every place."""
    if not re.fullmatch(_PLAIN, version):
        raise SystemExit(f"{version!r} is not a version such as 0.2.0 or 0.2.0-rc.1")
    for place in (Place("pyproject.toml", r'^version = "(.+)"$'), *places(root)):
        path = root / place.path
        path.write_text(_replaced(path.read_text(encoding="utf-8"), place, version), encoding="utf-8")


def _replaced(text: str, place: Place, version: str) -> str:
    def replace(found: re.Match[str]) -> str:
        return found[0].replace(found[1], place.of(version))

    return re.sub(place.pattern, replace, text, flags=re.MULTILINE)
