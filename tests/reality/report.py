"""The table of docs/reality.md: what was compared for each kind, and which differences are accepted."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tests.e2e.rig.binaries import KUBERNETES
from tests.reality.accepted import Accepted
from tests.reality.controller import Controller
from tests.reality.findings import Outcome

PAGE = Path(__file__).parents[2] / "docs" / "reality.md"
_BEGIN, _END = "<!-- results: begin -->", "<!-- results: end -->"
_COLUMNS = ("kind", "controller", "cases", "states", "comparisons", "accepted")


def write(
    page: Path, controllers: Sequence[Controller], outcomes: Sequence[Outcome], accepted: Sequence[Accepted]
) -> None:
    """Replace the generated part of the page."""
    before, _, rest = page.read_text(encoding="utf-8").partition(_BEGIN)
    _, _, after = rest.partition(_END)
    generated = "\n".join([_BEGIN, *results(controllers, outcomes, accepted), _END])
    page.write_text(f"{before}{generated}{after}", encoding="utf-8")


def results(
    controllers: Sequence[Controller], outcomes: Sequence[Outcome], accepted: Sequence[Accepted]
) -> Iterator[str]:
    """Yield the lines of the tables."""
    yield from _table(_COLUMNS, _rows(controllers, outcomes, accepted))
    reasons: dict[str, list[str]] = defaultdict(list)
    for entry in accepted:
        reasons[entry.reason].append(f"`{entry.case}`: {entry.what}")
    if reasons:
        yield ""
        yield from _table(("accepted difference", "why"), ((", ".join(what), why) for why, what in reasons.items()))


def _rows(
    controllers: Sequence[Controller], outcomes: Sequence[Outcome], accepted: Sequence[Accepted]
) -> Iterator[Sequence[str]]:
    for controller in controllers:
        version = controller.version or KUBERNETES
        for kind in controller.kinds:
            own = [
                outcome
                for outcome in outcomes
                if (outcome.controller, outcome.api_version, outcome.kind)
                == (controller.name, kind.api_version, kind.name)
            ]
            names = {outcome.case for outcome in own}
            findings = [finding for outcome in own for finding in outcome.findings]
            states = sum(finding.what.startswith("health ") for finding in findings)
            known = sum(entry.case in names for entry in accepted)
            counts = (len(own), states, len(findings), known)
            yield (f"{kind.api_version} {kind.name}", f"{controller.name} {version}", *(str(count) for count in counts))


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    for cells in (columns, ["---"] * len(columns), *rows):
        yield f"| {' | '.join(cells)} |"
