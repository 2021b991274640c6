"""``make drift``: what newer releases of the catalogue's projects change, as a table; what has no reason fails."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from docs.tools.facts import facts_of
from docs.tools.upstreams import upstreams, written_from
from tests.catalogue.entries import Entry, entries
from tests.proofs.conformance.reasons import Reasons
from tests.proofs.drift.comparison import Row, crd_of, differences
from tests.proofs.drift.sources import Checkout, clone, newest, sources_of
from tests.proofs.drift.words import new_words
from tests.proofs.rig.toolchain import BuildError

REASONS: Final = Path(__file__).with_name("reasons.yaml")


def main() -> int:
    """Compare, print, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.drift", description=__doc__)
    parser.add_argument("--from", type=Path, dest="folder", metavar="FOLDER", help="checkouts: OWNER+NAME or NAME")
    parser.add_argument("--main", action="store_true", help="compare with the commits that are checked out")
    parser.add_argument("--only", default="", help="a part of the names of kinds")
    parser.add_argument("--clone", action="store_true", help="clone what is missing in FOLDER first")
    options = parser.parse_args()
    if options.clone:
        for upstream in upstreams().values():
            if upstream.crds:
                clone(upstream, options.folder)
    reasons = Reasons(REASONS)
    notes: list[str] = []
    rows: list[Row] = []
    for entry in entries():
        if entry.definition and options.only in str(entry.definition.gvk):
            try:
                rows += _rows(entry, options.folder, notes, is_main=options.main)
                rows += _word_rows(entry, options.folder, is_main=options.main)
            except BuildError as error:
                notes.append(f"{entry.definition.gvk}: {error}")
    rows = sorted(set(rows))
    unexplained = sum(reasons.of(str(row)) is None for row in rows)
    listed = (f"- {note}" for note in dict.fromkeys(notes))
    tally = f"{len(rows)} differences, {unexplained} without a reason"
    sys.stdout.write("\n".join([*table(rows, reasons), "", *listed, "", tally, ""]))
    return 1 if unexplained else 0


def _rows(entry: Entry, folder: Path | None, notes: list[str], *, is_main: bool) -> Iterator[Row]:
    """Yield the differences of one kind between the release that it was written from and the newest one."""
    definition = entry.definition
    assert definition
    project, release = next(written_from(definition))
    upstream = upstreams()[project]
    if not upstream.crds:
        return
    sources, tag = sources_of(upstream, folder), upstream.releases[release]
    # A checkout of before the release would undo what the definition follows.
    has_main = is_main and any(isinstance(source, Checkout) and source.has(tag) for source in sources)
    latest = "HEAD" if has_main else newest(sources, tag)
    after = crd_of(upstream, sources, latest, definition.gvk)
    if after is None:
        notes.append(f"{project} {latest}: no CRD of {definition.gvk}")
        return
    before = crd_of(upstream, sources, tag, definition.gvk)
    releases = f"{project} {f'{tag} → {latest}' if before else latest}"
    notes.append(f"{releases}: compared")
    for difference in differences(definition, entry.text, before, after):
        yield Row(f"{definition.gvk.api_version} {definition.gvk.kind}", releases, difference)


def _word_rows(entry: Entry, folder: Path | None, *, is_main: bool) -> Iterator[Row]:
    """Yield the words of a kind in the newest release of its operator that its table does not answer."""
    assert entry.definition
    gvk = entry.definition.gvk
    words = facts_of(gvk).words
    if words is None or not words.source.files:
        return
    upstream, version = upstreams()[words.source.project], words.source.version
    sources = sources_of(upstream, folder)
    has_main = is_main and any(isinstance(source, Checkout) and source.has(version) for source in sources)
    latest = "HEAD" if has_main else newest(sources, version)
    for difference in new_words(words, sources, latest):
        yield Row(f"{gvk.api_version} {gvk.kind}", f"{upstream.name} {version} → {latest}", difference)


def table(rows: list[Row], reasons: Reasons) -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    yield "| kind | project | difference | reason |"
    yield "|---|---|---|---|"
    for row in rows:
        known = reasons.of(str(row))
        cells = (row.kind, row.releases, row.difference, known.reason if known else "**none**")
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


if __name__ == "__main__":
    sys.exit(main())
