"""The results about many workloads: each one, the causes of differences, and totals per kind."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s import GVK, NewObject, Object, full_name
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.engine.verification.aggregation import judge_crd
from karta_interpreter.engine.verification.evidence import Evidence
from karta_interpreter.engine.verification.judgement import Judgement, Question, Verdict
from karta_interpreter.engine.verification.verify import verify

_NAMED = 3


class Result(NamedTuple):
    """A judgement about an object, or about the CRD of a kind if ``name`` is empty."""

    gvk: GVK
    name: str
    judgement: Judgement

    def to_json(self) -> NewObject:
        """Return the result for machines."""
        return {**self.gvk.type_meta, "object": self.name, **self.judgement.to_json()}


class Cause(NamedTuple):
    """A difference that some objects of a kind have in common."""

    judgement: Judgement
    gvk: GVK
    names: tuple[str, ...]
    of: int
    """The number of all objects of the kind."""

    @property
    def objects(self) -> str:
        """The objects in words."""
        if self.names == ("",):
            return self.gvk.kind
        if len(self.names) == self.of:
            return f"all {count(self.of, self.gvk.kind)}" if self.of > 1 else f"{self.gvk.kind} {self.names[0]}"
        more = f" and {len(self.names) - _NAMED} more" if len(self.names) > _NAMED else ""
        return f"{len(self.names)} of {count(self.of, self.gvk.kind)} ({', '.join(self.names[:_NAMED])}{more})"

    def to_json(self) -> NewObject:
        """Return the cause for machines."""
        shared = {name: value for name, value in self.judgement.to_json().items() if name not in ("verdict", "detail")}
        return {**self.gvk.type_meta, **shared, "objects": list(self.names), "of": self.of}


class Report(Struct, frozen=True):
    """All results. ``problems`` say what could not be read."""

    results: tuple[Result, ...]
    problems: tuple[str, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether an answer differs from the member."""
        return any(result.judgement.verdict is Verdict.DIFFERS for result in self.results)

    @property
    def totals(self) -> Mapping[GVK, Counter[Verdict]]:
        """The number of results of each verdict by kind."""
        totals: dict[GVK, Counter[Verdict]] = defaultdict(Counter)
        for result in self.results:
            totals[result.gvk][result.judgement.verdict] += 1
        return totals

    @property
    def objects(self) -> Mapping[GVK, int]:
        """The number of objects by kind."""
        names = dict.fromkeys((result.gvk, result.name) for result in self.results)
        return Counter(gvk for gvk, name in names if name)

    @property
    def causes(self) -> tuple[Cause, ...]:
        """The differences by cause, the most frequent first."""
        names_by_cause: dict[tuple[GVK, Judgement], dict[str, None]] = {}
        for gvk, name, judgement in self.results:
            if judgement.verdict is Verdict.DIFFERS:
                names_by_cause.setdefault((gvk, judgement._replace(detail="")), {})[name] = None
        numbers = self.objects
        causes = sorted(names_by_cause.items(), key=lambda cause: -len(cause[1]))
        return tuple(Cause(judgement, gvk, tuple(names), numbers[gvk]) for (gvk, judgement), names in causes)

    def to_json(self) -> NewObject:
        """Return the whole report for machines."""
        totals = self.totals
        kinds = [
            {**gvk.type_meta, "objects": number, **{str(verdict): totals[gvk][verdict] for verdict in Verdict}}
            for gvk, number in self.objects.items()
        ]
        return {
            "results": [result.to_json() for result in self.results],
            "causes": [cause.to_json() for cause in self.causes],
            "kinds": kinds,
            "problems": list(self.problems),
        }


def verify_all(
    workloads: Iterable[tuple[Definition, Evidence]], crd_of: Callable[[GVK], Object | None], problems: Sequence[str]
) -> Report:
    """Return the report about workloads and the CRDs of their kinds."""
    results, too_deep = list[Result](), list[str]()
    kinds: dict[GVK, Definition] = {}
    for definition, evidence in workloads:
        gvk, name = definition.gvk, full_name(evidence.object.get("metadata"))
        kinds.setdefault(gvk, definition)
        try:
            results += [Result(gvk, name, judgement) for judgement in verify(definition, evidence, crd_of(gvk))]
        except RecursionError:
            too_deep.append(f"{gvk.kind} {name}: it is nested too deeply to be judged")
    for gvk, definition in kinds.items():
        if crd := crd_of(gvk):
            judgements = [*judge_crd(definition, crd)] or [Judgement(Question.CRD)]
            results += [Result(gvk, "", judgement) for judgement in judgements]
    return Report(tuple(results), (*problems, *too_deep))
