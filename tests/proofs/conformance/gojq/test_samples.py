from copy import deepcopy
from itertools import islice

from karta_interpreter.definitions.karta.expression_text import PodQuery
from tests.proofs.conformance.gojq.asking import FAILED
from tests.proofs.conformance.gojq.readings import Reading
from tests.proofs.conformance.gojq.samples import Sample, pod_queries, queries
from tests.proofs.conformance.gojq.tally import Question, Tally
from tests.proofs.conformance.gojq.texts import changed, words

MADE_UP = list(Sample.made_up())
ORCHESTRA, GUILD = (next(each for each in MADE_UP if each.karta.name == name) for name in ("orchestra", "guild"))


def test_samples_are_the_same_every_time_and_leave_what_they_are_made_of_alone() -> None:
    before = deepcopy(ORCHESTRA.cases)
    first, second = ([each.object for each in ORCHESTRA.workloads(20)] for _ in range(2))
    assert first == second
    assert ORCHESTRA.cases == before
    assert first[0] == before[0][0]
    assert len({repr(obj) for obj in first}) > 15


def test_samples_are_changed_where_the_definition_looks() -> None:
    assert {("spec", "sections", None, "desks"), ("spec", "most"), ("status", "acts", None, "bars")} <= set(
        ORCHESTRA.places
    )
    assert ("spec", "priority") in GUILD.pod_places
    assert {'sec"tion', "Tuned", "Broken"} <= set(ORCHESTRA.texts)


def test_pods_say_what_the_definition_asks() -> None:
    workload = next(GUILD.workloads(0))
    pods = list(GUILD.pods(workload, 60, seed=1))
    ranks = [pod["metadata"]["labels"].get("rank") for pod in pods]
    assert len(set(map(str, ranks))) > 10
    assert {type(pod.get("spec", {}).get("priority")) for pod in pods} >= {str, int, type(None)}


def test_changed_expressions_are_made_of_the_words_of_the_old_ones() -> None:
    texts = [query.text for sample in MADE_UP for query in _all(sample)]
    assert all("".join(words(text)) == text for text in texts)
    copies = [changed(text, 4) for text in texts]
    assert copies == [changed(text, 4) for text in texts]
    assert all(set(found) - {text} for text, found in zip(texts, copies, strict=True))


def _all(sample: Sample) -> list[PodQuery]:
    workload = next(sample.workloads(0))
    return [*(PodQuery(query.text) for query in queries(workload)), *pod_queries(workload)]


def test_difference_needs_a_reason() -> None:
    tally = Tally()
    tally.ask(Question("equal", {}, lambda: [1], lambda _: [1.0]))
    tally.ask(Question("explained", {}, list, lambda readings: [] if Reading.NULL in readings else FAILED))
    tally.ask(Question("several", {}, list, lambda readings: [] if len(readings) > 1 else FAILED))
    tally.ask(Question("excused", {}, lambda: [1], lambda _: [2]), "because")
    tally.ask(Question("wrong", {"n": 1}, lambda: [1], lambda _: [2]))
    assert (tally.asked, tally.failed, tally.reasons.total()) == (5, 1, 3)
    (shown,) = tally.show()
    assert shown == 'wrong, 1 times\n  of: {"n": 1}\n  here: [1]\n  there: [2]'
    assert list(islice(tally.reasons, 3)) == [Reading.NULL.value, "several of these", "because"]
