"""How long a client waits for an answer, with few connections and with many, and what a new connection costs."""

from typing import Final

from tests.proofs.benchmarks.field import Field
from tests.proofs.benchmarks.report import Part, Plot, number, table
from tests.proofs.benchmarks.rounds import Case, Effort, measure
from tests.proofs.benchmarks.workload import HOT_OPERATIONS, workload

_CONNECTIONS: Final = (1, 8, 32)
_AIMED_AT: Final = 8
_SIZE: Final = 5 * 1024


def waiting(field: Field, effort: Effort) -> Part:
    """Measure waiting times at 5 KB; gives the ratios of median and 99th percentile at eight connections."""
    bodies = field.hot_bodies(_SIZE, workload, HOT_OPERATIONS)
    counts = _CONNECTIONS if effort.whole else (_AIMED_AT,)
    cases = {(server.name, count): Case(server, bodies, count) for count in counts for server in field.servers}
    # A hundredth of the requests decides here, so there have to be more of them.
    measure(cases.values(), field.load, effort.rounds, 3 * effort.seconds)
    heads = ("connections", "server", "p50 µs", "p99 µs", "requests/s seen", "client busy")
    rows = [
        (
            str(count),
            name,
            number(case.found.p50),
            number(case.found.p99),
            number(case.found.rate),
            f"{case.found.busy:.0%}",
        )
        for (name, count), case in cases.items()
        if case.worked
    ]
    ratios = {}
    if field.peers:
        own, theirs = (cases[server.name, _AIMED_AT].found for server in (field.ours, field.peers.example))
        ratios = {
            f"p50, {_AIMED_AT} connections": theirs.p50 / own.p50,
            f"p99, {_AIMED_AT} connections": theirs.p99 / own.p99,
        }
    mine = cases[field.ours.name, _AIMED_AT].found
    conclusion = (
        f"With {_AIMED_AT} connections that are busy all the time, at the limit of one core, half of the answers take "
        f"less than {number(mine.p50 / 1000)} ms and 99 % less than {number(mine.p99 / 1000)} ms."
    )
    plots = [_plot(field, cases)] if effort.whole else []
    return Part({"waiting": table(heads, rows)}, ratios, plots, [conclusion])


def new_connections(field: Field, effort: Effort) -> Part:
    """Measure requests that each come over a connection of their own; gives the ratio of processor times."""
    bodies = field.hot_bodies(_SIZE, workload, HOT_OPERATIONS)
    servers = (field.ours, field.peers.example) if field.peers else (field.ours,)
    kept = [Case(server, bodies) for server in servers]
    fresh = [Case(server, bodies, way="connecting") for server in servers]
    measure([*kept, *fresh], field.load, effort.rounds, effort.seconds)
    heads = ("server", "CPU µs, new connection", "CPU µs, kept connection", "difference", "p50 µs, new connection")
    rows = [
        (
            new.server.name,
            number(new.found.cpu),
            number(old.found.cpu),
            number(new.found.cpu - old.found.cpu),
            number(new.found.p50),
        )
        for new, old in zip(fresh, kept, strict=True)
        if new.worked and old.worked
    ]
    ratios = {"CPU per new connection": fresh[1].found.cpu / fresh[0].found.cpu} if field.peers else {}
    more = number(fresh[0].found.cpu - kept[0].found.cpu)
    conclusion = f"A new connection costs {more} µs more than one that is kept, as Karmada keeps them."
    return Part({"connections": table(heads, rows)}, ratios, conclusions=[conclusion])


def _plot(field: Field, cases: dict[tuple[str, int], Case]) -> Plot:
    servers = (field.ours, field.peers.example) if field.peers else (field.ours,)
    series = {}
    for server in servers:
        found = [cases[server.name, count].found for count in _CONNECTIONS]
        series[f"{server.name}, p50"] = [one.p50 for one in found]
        series[f"{server.name}, p99"] = [one.p99 for one in found]
    names = [f"{count} connection{'s' if count > 1 else ''}" for count in _CONNECTIONS]
    return Plot("waiting", "Time until the answer, 5 KB", "", "µs", names, series, "log")
