"""The projects that the catalogue was written from, and their page on the site.

docs/upstreams.yaml has the projects of several kinds, and the facts of a kind have those of this kind alone.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from docs.tools.facts import FactsError, all_facts
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.definitions.sources.files import load_catalogue

ROOT: Final = Path(__file__).parents[2]
RECORD: Final = ROOT / "docs" / "upstreams.yaml"
PAGE: Final = ROOT / "docs" / "catalogue" / "upstreams.md"
_TOP: Final = """# Upstreams: the releases that the definitions were written from

The annotation [`written-from`](../fields.md#written-from) of a definition names the releases of the projects whose
source decides its answers, the one that serves the kind first. A definition fits other releases as far as these are the
same in them. The last column is the release whose CRDs and samples `make conformance` reads.
[How a newer release is noticed](../developers/drift.md).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """A project, as docs/upstreams.yaml explains its fields."""

    name: str
    repository: str
    releases: Mapping[str, str]
    folder: str = ""
    crds: tuple[str, ...] = ()
    module: str = ""
    modules: Mapping[str, str] = field(default_factory=dict)
    conformance: str = ""
    without: str | Mapping[str, str] = field(default_factory=dict)

    def reason_without_crd(self, release: str) -> str:
        """Return why there is no CRD of a kind that was written from a release; empty if there is one."""
        return self.without if isinstance(self.without, str) else self.without.get(release, "")


@cache
def upstreams() -> Mapping[str, Upstream]:
    """Return the projects by their names. What the facts of a kind say of a project is added to the record.

    Raises FactsError for two texts of one field.
    """
    record: dict[str, dict[str, Any]] = yaml.safe_load(RECORD.read_text(encoding="utf-8"))
    for folder, facts in all_facts().items():
        for name, fields in facts.upstreams.items():
            known = record.setdefault(name, {})
            for key, value in fields.model_dump(exclude_unset=True).items():
                known[key] = _added(known.get(key), value, f"{folder.name}: upstreams.{name}.{key}")
    return {
        name: Upstream(**{**fields, "name": name, "crds": tuple(fields.get("crds", ()))})
        for name, fields in sorted(record.items(), key=lambda each: each[0].casefold())
    }


def _added(known: object, value: object, place: str) -> object:
    """Return a field of a project with more of it."""
    match known, value:
        case dict(), dict():
            return {**known, **value}
        case list(), list():
            return [*known, *value]
    if known in (None, value):
        return value
    raise FactsError(f"{place} is {value!r}, and elsewhere {known!r}")


def written_from(definition: Definition) -> Iterator[tuple[str, str]]:
    """Yield each project and the release that a definition was written from, the one that serves the kind first."""
    for text in definition.annotations.written_from.split(", "):
        project, _, release = text.rpartition(" ")
        yield project, release


def pages() -> dict[Path, str]:
    """Return the page, which only the site has, from the definitions and the record."""
    kinds: dict[tuple[str, str], list[str]] = defaultdict(list)
    for entry in sorted(load_catalogue().entries, key=lambda entry: entry.definition.gvk):
        for upstream in written_from(entry.definition):
            kinds[upstream].append(entry.definition.gvk.kind)
    rows = "".join(
        f"| [{name}](https://github.com/{upstream.repository}) | {release} | `{upstream.releases[release]}` "
        f"| {', '.join(dict.fromkeys(kinds[name, release]))} | {upstream.conformance} |\n"
        for name, upstream in upstreams().items()
        for release in upstream.releases
    )
    head = "| project | release | tag or commit | definitions | CRDs in the tests |\n|---|---|---|---|---|\n"
    return {PAGE: f"{_TOP}\n{head}{rows}"}
