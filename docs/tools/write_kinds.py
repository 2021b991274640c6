"""The kinds of the catalogue in files of people: counts in the README, families of health, the role of `verify`."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from karta_interpreter.definitions.karta import Definition
from karta_interpreter.definitions.sources.files import load_catalogue
from karta_interpreter.engine.evaluation.status import Status
from karta_interpreter.engine.operations import Operation
from karta_interpreter.engine.operations.interpret_health import healthy_statuses
from karta_interpreter.engine.registered.description import describe

ROOT: Final = Path(__file__).parents[2]
README: Final = ROOT / "README.md"
FAMILIES: Final = ROOT / "docs" / "developers" / "proofs.md"
ROLE: Final = ROOT / "deploy" / "member" / "clusterrole-verify.yaml"
COMPLETES, SERVES, JUDGED = "run to completion", "serve", "by an expression"
"""The families: two plain ones, and the kinds with the annotation `health`, which people describe."""
_COUNTS: Final = re.compile(r"answers \d+ operations of \d+ kinds")
_FAMILIES: Final = re.compile(r"(?<=^\| kinds \| family \|\n\|---\|---\|\n)((?:\|.*\n)+)", re.MULTILINE)
_GROUPS: Final = re.compile(r"(?<=^rules:\n  - apiGroups:\n)(?:      - .*\n)+", re.MULTILINE)


def pages() -> dict[Path, str]:
    """Return the files with the kinds of the catalogue, by their paths."""
    entries = load_catalogue().entries
    operations = sum(len(describe(entry)["operations"]) for entry in entries)
    counts = f"answers {operations} operations of {len(entries)} kinds"
    groups = sorted({entry.definition.gvk.group for entry in entries} - {""})
    listed = "".join(f"      - {group}\n" for group in groups)
    definitions = [entry.definition for entry in entries]
    return {
        README: _COUNTS.sub(counts, README.read_text(encoding="utf-8")),
        ROLE: _GROUPS.sub(listed, ROLE.read_text(encoding="utf-8")),
        FAMILIES: _FAMILIES.sub(
            lambda rows: _rows(rows[1], definitions), FAMILIES.read_text(encoding="utf-8"), count=1
        ),
    }


def family(definition: Definition) -> str:
    """Return by what a kind decides about its health."""
    if definition.annotations.health is not None:
        return JUDGED
    return COMPLETES if Status.INITIALIZING in healthy_statuses(definition) else SERVES


def _rows(present: str, definitions: Sequence[Definition]) -> str:
    """Return the rows of the families: the two plain ones list each kind that no other row is about."""
    described = [
        row for row in present.splitlines(keepends=True) if not row.endswith((f"| {COMPLETES} |\n", f"| {SERVES} |\n"))
    ]
    named = set(re.findall(r"\w+", "".join(row.split("|")[1] for row in described)))
    rest = [each for each in definitions if each.answers(Operation.INTERPRET_HEALTH) and each.gvk.kind not in named]
    plain = (f"| {', '.join(_names(rest, name))} | {name} |\n" for name in (COMPLETES, SERVES))
    return "".join([*plain, *described])


def _names(definitions: Sequence[Definition], wanted: str) -> Iterator[str]:
    """Yield the kinds of a family, with their groups where a kind is in several."""
    groups: dict[str, set[str]] = defaultdict(set)
    for definition in definitions:
        groups[definition.gvk.kind].add(definition.gvk.group)
    for kind, group in sorted({(each.gvk.kind, each.gvk.group) for each in definitions if family(each) == wanted}):
        yield f"{kind} (`{group}`)" if len(groups[kind]) > 1 else kind
