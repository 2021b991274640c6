"""The tables of results.md: what was compared for each kind, and which differences are accepted."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tests.proofs.reality.accepted import Accepted
from tests.proofs.reality.controller import Controller
from tests.proofs.reality.controllers import CONTROLLERS
from tests.proofs.reality.findings import Outcome
from tests.proofs.rig.binaries import KUBERNETES

PAGE = Path(__file__).parent / "results.md"
_SUBJECTS = {
    "components": "counts and requests",
    "replica": "counts and requests",
    "counts": "counts and requests",
    "health": "health",
    "retain": "Retain",
    "revise": "revise, edit",
    "edit": "revise, edit",
    "pods:": "revise, edit",
    "suspend": "suspend, resume",
    "resume": "suspend, resume",
    "pods": "suspend, resume",
    "aggregate": "AggregateStatus",
    "status": "AggregateStatus",
    "dependencies": "dependencies",
    "verify": "verify",
}
_OTHER = "other"
_COLUMNS = (*dict.fromkeys(_SUBJECTS.values()), _OTHER)
_HEADER = ("kind", "controller", "cases", *_COLUMNS, "accepted")


def write(
    page: Path, controllers: Sequence[Controller], outcomes: Sequence[Outcome], accepted: Sequence[Accepted]
) -> None:
    """Write the rows of controllers and the accepted differences, and leave the rows of others as they are."""
    write_between(
        page, "results", results(controllers, outcomes, accepted, _rows_of_others(page, "results", controllers))
    )


def write_operators(
    page: Path, operators: Sequence[Controller], outcomes: Sequence[Outcome], accepted: Sequence[Accepted]
) -> None:
    """Write the rows of operators from source, and leave those of others as they are."""
    header, rule, *now = _table(_HEADER, _rows(operators, outcomes, accepted))
    rows = sorted([*_rows_of_others(page, "operators", operators), *now])
    write_between(page, "operators", [header, rule, *rows])


def _rows_of_others(page: Path, mark: str, controllers: Sequence[Controller]) -> list[str]:
    """Return the rows of a table that are of other controllers."""
    names = {controller.name for controller in controllers}
    _, _, rest = page.read_text(encoding="utf-8").partition(f"<!-- {mark}: begin -->")
    lines = rest.partition(f"<!-- {mark}: end -->")[0].splitlines()
    rows = [line for line in lines if _is_row(line)]
    return [line for line in rows if _controller_of(line) not in names]


def _is_row(line: str) -> bool:
    """Whether a line is about a kind: its name has a group and a version."""
    return line.count(" | ") >= len(_HEADER) - 1 and "/v" in f"/{_cells(line)[0]}"


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _controller_of(line: str) -> str:
    return line.split(" | ")[1].partition(" ")[0]


def write_between(page: Path, mark: str, lines: Iterable[str]) -> None:
    """Replace what is between the two comments of a mark."""
    begin, end = f"<!-- {mark}: begin -->", f"<!-- {mark}: end -->"
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    _, _, after = rest.partition(end)
    generated = "\n".join([begin, *lines, end])
    page.write_text(f"{before}{generated}{after}", encoding="utf-8")


def results(
    controllers: Sequence[Controller],
    outcomes: Sequence[Outcome],
    accepted: Sequence[Accepted],
    others: Sequence[str] = (),
) -> Iterator[str]:
    """Yield the lines: a sentence and the two tables. ``others`` are rows of other controllers."""
    header, rule, *now = _table(_HEADER, _rows(controllers, outcomes, accepted))
    rows = sorted([*others, *now], key=_place)
    numbers = [[int(cell or 0) for cell in _cells(row)[2:]] for row in rows]
    cases, compared = sum(row[0] for row in numbers), sum(sum(row[1:-1]) for row in numbers)
    yield f"{cases} cases, {compared} comparisons, Kubernetes {KUBERNETES}; comparisons by kind:"
    yield ""
    yield from (header, rule, *rows)
    reasons: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for entry in accepted:
        reasons[entry.reason][entry.what].append(entry.case)
    if reasons:
        yield ""
        yield "Accepted differences:"
        yield ""
        yield from _table(("what", "cases", "why"), _reasons(reasons))


def _place(row: str) -> int:
    """Return where the controller of a row is among those that are known."""
    names = [controller.name for controller in CONTROLLERS]
    name = _controller_of(row)
    return names.index(name) if name in names else len(names)


def _rows(
    controllers: Sequence[Controller], outcomes: Sequence[Outcome], accepted: Sequence[Accepted]
) -> Iterator[Sequence[str]]:
    for controller in controllers:
        for kind in controller.kinds:
            name = controller.name, kind.api_version, kind.name
            own = [outcome for outcome in outcomes if (outcome.controller, outcome.api_version, outcome.kind) == name]
            if not own:  # a kind that others are made of, such as the JobSet of a TrainJob
                continue
            findings = [finding for outcome in own for finding in outcome.findings]
            subjects: dict[str, object] = {**Counter(_subject(finding.what) for finding in findings)}
            cases = {outcome.case for outcome in own}
            known = sum(entry.case in cases for entry in accepted)
            numbers = (len(own), *(subjects.get(column) for column in _COLUMNS), known)
            program = f"{controller.name} {controller.version or KUBERNETES}"
            yield (f"{kind.api_version} {kind.name}", program, *(str(number or "") for number in numbers))


def _subject(what: str) -> str:
    return _SUBJECTS.get(what.partition(" ")[0], _OTHER)


def _reasons(reasons: dict[str, dict[str, list[str]]]) -> Iterator[Sequence[str]]:
    for reason, differences in reasons.items():
        by_cases: dict[str, list[str]] = defaultdict(list)
        for what, cases in differences.items():
            by_cases[", ".join(cases)].append(what)
        for listed, whats in by_cases.items():
            yield ", ".join(whats), listed, reason


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    for cells in (columns, ["---"] * len(columns), *rows):
        yield f"| {' | '.join(cells)} |"
