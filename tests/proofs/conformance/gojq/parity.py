"""The whole comparison: definitions, workloads, pods and expressions, asked of our library and of gojq."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from random import Random

from tests.proofs.conformance.gojq import patterns, verdicts
from tests.proofs.conformance.gojq.asking import Ask
from tests.proofs.conformance.gojq.peer import Gojq
from tests.proofs.conformance.gojq.questions import EXPRESSIONS, about_expression, of_pod, of_workload
from tests.proofs.conformance.gojq.samples import Sample, pod_queries, queries
from tests.proofs.conformance.gojq.tally import Tally
from tests.proofs.conformance.gojq.texts import changed

_PODS = 2
"""How many pods are made for each workload."""

_MADE_UP = 20
"""How many times as many workloads the made-up definitions get: they have few objects to begin with."""

_CHANGED = 8
"""How many changed copies are made of each expression."""

_TRIED = 2
"""On how many objects each of them runs that is accepted."""

_PATTERNS = 8_000

_BOUNDED = "what is bounded is answered by jq itself, which is not gojq in every respect"


@dataclass
class Parity:
    """What was compared, by kind of question, in the order in which it first came up."""

    definitions: int = 0
    workloads: int = 0
    pods: int = 0
    tallies: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))

    def __str__(self) -> str:
        compared = sum(tally.asked for tally in self.tallies.values())
        lines = [
            f"{self.definitions} definitions, {self.workloads} workloads, {self.pods} pods, {compared} comparisons",
            *(f"{kind}: {tally}" for kind, tally in self.tallies.items()),
        ]
        return "\n".join(lines)

    def failures(self) -> Iterator[str]:
        """Whatever differs without a reason."""
        for kind, tally in self.tallies.items():
            yield from (f"{kind}: {shown}" for shown in tally.show())


def compare(program: Path, mutants: int) -> Parity:
    """Ask both sides everything, about so many changed copies of each object."""
    found = Parity()
    with Gojq(program) as gojq:
        for sample in chain(Sample.catalogue(), Sample.made_up()):
            found.definitions += 1
            times = mutants if len(sample.cases) > _TRIED else mutants * _MADE_UP
            _compare_objects(gojq, sample, times, found)
            _compare_texts(gojq, sample, found)
        patterns.compare(gojq, _PATTERNS, found.tallies["regular expressions"])
    return found


def _compare_objects(gojq: Gojq, sample: Sample, mutants: int, found: Parity) -> None:
    for number, workload in enumerate(sample.workloads(mutants)):
        found.workloads += 1
        for kind, question in of_workload(gojq, workload):
            found.tallies[kind].ask(question)
        for pod in sample.pods(workload, _PODS, number):
            found.pods += 1
            for question in of_pod(gojq, workload, pod):
                found.tallies[EXPRESSIONS].ask(question)


def _compare_texts(gojq: Gojq, sample: Sample, found: Parity) -> None:
    """Expressions like those of a definition: which are accepted, and what they give."""
    workloads = list(sample.workloads(0))
    chance = Random(sample.karta.name)  # noqa: S311 - the same expressions every time is what is wanted
    written = [query.text for query in queries(workloads[0])] + [query.text for query in pod_queries(workloads[0])]
    texts = list(dict.fromkeys(each for text in dict.fromkeys(written) for each in changed(text, _CHANGED)))
    names = frozenset(reference.name for reference in sample.karta.definition.references)
    for accepted in verdicts.compare(gojq, texts, names, found.tallies["verdicts on changed expressions"]):
        query = accepted.bound(dict.fromkeys(names))
        for workload in chance.sample(workloads, min(_TRIED, len(workloads))):
            question = about_expression(Ask(gojq, workload.object), query, sample.karta.name, workload.object)
            found.tallies[f"changed {EXPRESSIONS}"].ask(question, "" if query.is_plain else _BOUNDED)
