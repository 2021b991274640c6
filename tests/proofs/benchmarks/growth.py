"""What a request costs when there is more of something else: loaded definitions, owners of fields."""

from contextlib import ExitStack
from pathlib import Path
from typing import Final

from tests.proofs.benchmarks.field import Field
from tests.proofs.benchmarks.report import Part, Plot, number, table
from tests.proofs.benchmarks.rounds import Case, Effort, measure
from tests.proofs.benchmarks.servers import Server
from tests.proofs.benchmarks.workload import HOT_OPERATIONS, managed_by, workload

_DEFINITION: Final = (Path(__file__).parent / "definitions" / "workload.yaml").read_text()
_SIZE: Final = 5 * 1024
_MANY: Final = 1000


def definitions(field: Field, effort: Effort) -> Part:
    """Measure with few and with many definitions; gives the ratio of the fewest to the most."""
    bodies = field.hot_bodies(_SIZE, workload, HOT_OPERATIONS)
    with ExitStack() as stack:
        cases: dict[int, Case] = {}
        for count in effort.definitions:
            folder = write_definitions(field.folder / f"{count}-definitions", count)
            name = f"{count:,} definitions"
            options = ("--no-catalogue", "--kartas", folder)
            cases[count] = Case(stack.enter_context(field.bay.ours(name, *options)), bodies)
        measure(cases.values(), field.load, 2 * effort.rounds, effort.seconds)
        rows = [_definitions_row(count, case) for count, case in cases.items()]
    few, many, most = (cases[count].found for count in (effort.definitions[0], _MANY, effort.definitions[-1]))
    heads = ("definitions", "CPU µs per request", "p99 µs", "seconds to start", "resident MiB")
    found = [case.found.cpu for case in cases.values()]
    plot = Plot(
        "definitions",
        "CPU per request by number of loaded definitions",
        "definitions",
        "µs of CPU per request",
        effort.definitions,
        {"this server, 5 KB": found},
        "log-x",
    )
    ratios = {f"{_MANY:,} definitions": few.cpu / many.cpu}
    conclusion = (
        f"With {effort.definitions[-1]:,} definitions a call costs {most.cpu / few.cpu:.2f} times what it costs with "
        f"{effort.definitions[0]:,}."
    )
    return Part({"definitions": table(heads, rows)}, ratios, [plot] if effort.whole else [], [conclusion])


def managed_fields(field: Field, effort: Effort) -> Part:
    """Measure one small Deployment whose fields have ever more owners."""
    cases = {}
    for owners in effort.owners:
        bodies = field.hot_bodies(0, managed_by(owners), HOT_OPERATIONS)
        cases[owners] = Case(field.ours, bodies)
    measure(cases.values(), field.load, effort.rounds, effort.seconds)
    sizes = {owners: case.bodies[0].stat().st_size / 1024 for owners, case in cases.items()}
    rows = [
        (str(owners), number(sizes[owners]), number(case.found.cpu), number(case.found.p50))
        for owners, case in cases.items()
        if case.worked
    ]
    heads = ("owners in managedFields", "KB of the request", "CPU µs per request", "p50 µs")
    plot = Plot(
        "managed-fields",
        "CPU per request by size of managedFields",
        "KB of the request",
        "µs of CPU per request",
        list(sizes.values()),
        {"this server, Deployment": [case.found.cpu for case in cases.values()]},
    )
    return Part({"managed-fields": table(heads, rows)}, {}, [plot] if effort.whole else [])


def write_definitions(folder: Path, count: int) -> Path:
    """Write definitions of that many kinds, of which `workload` is one; return the folder."""
    folder.mkdir()
    for place in range(count):
        kind = f"Workload{place}" if place else "Workload"
        (folder / f"{kind}.yaml").write_text(definition_of(kind))
    return folder


def definition_of(kind: str) -> str:
    """Return the definition of `workload` for another kind."""
    text = _DEFINITION.replace("kind: Workload}", f"kind: {kind}}}")
    return text.replace("name: workload\n", f"name: {kind.lower()}\n", 1)


def _definitions_row(count: int, case: Case) -> tuple[str, ...]:
    server: Server = case.server
    found = case.found
    return f"{count:,}", number(found.cpu), number(found.p99), f"{server.started_in:.2f}", number(server.memory())
