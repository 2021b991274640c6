"""CHANGELOG.md as sections, one for each version, and what a release makes of them."""

import re
from dataclasses import dataclass

UNRELEASED = "Unreleased"
KINDS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
"""Headings of Keep a Changelog; in lower case they are the kinds of changes that Artifact Hub knows."""

_HEADING = re.compile(r"^## \[(?P<version>[^]]+)\](?: - (?P<date>\d{4}-\d{2}-\d{2}))?$", re.MULTILINE)
_ANSWERS = re.compile(r"<!-- answers: (?:begin|end) -->\n?")


@dataclass(frozen=True)
class Section:
    """What one version changes."""

    version: str
    date: str | None
    body: str

    @property
    def changes(self) -> tuple[tuple[str, str], ...]:
        r"""Return the kind and the text of each change; entries below other headings are none.

        >>> Section("1.0.0", None, "### Added\n- One\n  thing.\n\n### Fixed\n- Two.\n").changes
        (('Added', 'One thing.'), ('Fixed', 'Two.'))
        """
        found = []
        for group in re.split(r"^### ", self.body, flags=re.MULTILINE)[1:]:
            kind, _, rest = group.partition("\n")
            entries = re.split(r"^- ", rest, flags=re.MULTILINE)[1:] if kind in KINDS else ()
            found += [(kind, " ".join(entry.split())) for entry in entries]
        return tuple(found)


def sections(text: str) -> dict[str, Section]:
    """Return the sections of a changelog by their versions, in its order."""
    heads = list(_HEADING.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    found = [
        Section(head["version"], head["date"], text[head.end() : end].strip("\n"))
        for head, end in zip(heads, ends, strict=True)
    ]
    return {section.version: section for section in found}


def released(text: str, version: str, date: str) -> str:
    r"""Return the changelog with its unreleased changes as those of a version.

    The marks of ``make catalogue-diff`` go, so that the next release does not replace the answers of this one.

    >>> released("# Changelog\n\n## [Unreleased]\n\n### Fixed\n- A.\n", "0.2.0", "2026-12-01")
    '# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n\n### Fixed\n- A.\n'
    """
    known = sections(text)
    if version in known:
        raise SystemExit(f"CHANGELOG.md: version {version} is there already")
    if UNRELEASED not in known or not known[UNRELEASED].body:
        raise SystemExit(f"CHANGELOG.md: there is nothing below [{UNRELEASED}] to release")
    heading = f"## [{UNRELEASED}]\n"
    head, _, rest = text.partition(heading)
    changes, mark, older = rest.partition("\n## [")
    return f"{head}{heading}\n## [{version}] - {date}\n{_ANSWERS.sub('', changes)}{mark}{older}"
