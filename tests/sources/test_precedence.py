from collections.abc import Callable

from interpreter.k8s.gvk import GVK
from interpreter.karta.definition import Component, Definition
from interpreter.sources.precedence import Layer, combine
from interpreter.sources.snapshot import Entry, Quarantined


def _entry(kind: str, origin: str) -> Entry:
    gvk = GVK("example.io", "v1", kind)
    return Entry(Definition(f"{kind}-{origin}", gvk, (Component(gvk.kind, "main", gvk),), source=origin), origin)


def test_the_stronger_layer_wins_and_says_so(gvk: Callable[[str], GVK]) -> None:
    mine, shipped, other = _entry("Job", "mine"), _entry("Job", "catalogue"), _entry("Set", "catalogue")

    snapshot = combine([Layer((mine,)), Layer((shipped, other))])

    assert snapshot.find(gvk("Job")) is mine.definition
    assert snapshot.find(gvk("Set")) is other.definition
    (finding,) = snapshot.findings
    assert (finding.severity, finding.rule, finding.source) == ("warning", "shadowed-kind", "catalogue")
    assert finding.message == "example.io/v1, Kind=Job: Job-mine from mine hides Job-catalogue from catalogue"


def test_inside_a_layer_the_first_wins_and_the_second_is_an_error(gvk: Callable[[str], GVK]) -> None:
    first, second = _entry("Job", "a.yaml"), _entry("Job", "b.yaml")

    snapshot = combine([Layer((first, second))])

    assert snapshot.find(gvk("Job")) is first.definition
    (finding,) = snapshot.findings
    assert (finding.severity, finding.rule, finding.source) == ("error", "duplicate-kind", "b.yaml")


def test_each_hidden_definition_is_reported_against_the_winner() -> None:
    snapshot = combine([Layer((_entry("Job", origin),)) for origin in ("a", "b", "c")])

    assert [finding.message.split(": ")[1] for finding in snapshot.findings] == [
        "Job-a from a hides Job-b from b",
        "Job-a from a hides Job-c from c",
    ]


def test_what_is_quarantined_anywhere_is_kept() -> None:
    one, two = Quarantined("a.yaml", ()), Quarantined("b.yaml", ())

    assert combine([Layer((), (one,)), Layer((), (two,))]).quarantined == (one, two)
