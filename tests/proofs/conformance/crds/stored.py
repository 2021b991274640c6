"""Every object of a suite that is to be answered is one that an API server with the kind's CRD stores.

A case is about a part of an object. Fields of its spec that the CRD requires and that it leaves out are no fault. An
unknown field, a wrong value, and a required field further down are, unless a row has the reason.
"""

import json
import re
import subprocess
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from docs.tools.upstreams import upstreams, written_from
from karta_interpreter.base.k8s.values import GVK, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.suites.suite import Case
from tests.catalogue.entries import Entry, entries
from tests.proofs.conformance.crds.references import crds_of
from tests.proofs.drift.sources import order

_LEFT_OUT: Final = re.compile(r"spec(\.\w+)?: Required value")


class _Row(NamedTuple):
    """What an API server has against objects of some kinds, as a pattern, and the reason why they stay."""

    kinds: tuple[str, ...]
    pattern: str
    reason: str

    def explains(self, kind: str, complaint: str) -> bool:
        """Return whether this is the reason of a complaint."""
        return kind in self.kinds and re.match(self.pattern, complaint) is not None

    def __str__(self) -> str:
        return f"{', '.join(self.kinds)}: {self.pattern}: {self.reason}"


_REFUSED: Final = "a refused object is answered all the same"
_FILLED: Final = "the member's webhook fills it in"
_NEWER: Final = "the release of the proofs does not have it yet"
ROWS: Final = (
    _Row(
        ("UnitedDeployment",),
        r"spec\.template\.\w+\.spec\.(selector|template): Required",
        "the case is about another part of the workload in it",
    ),
    _Row(
        ("ScheduledSparkApplication",),
        r"spec\.template\.(mainApplicationFile|sparkVersion): Required",
        "the case is about another part of the application in it",
    ),
    _Row(("JobSet",), r"spec\.failurePolicy\.rules\[0\]\.name: Required", _FILLED),
    _Row(("Elasticsearch",), r"spec\.nodeSets: .*at least 1 items", _REFUSED),
    _Row(
        ("LLMInferenceService",),
        r"spec\.router\.scheduler\.config\.inline: .*of type object",
        _REFUSED,
    ),
    _Row(("LLMInferenceService",), r"unknown router\.scheduler\.tokenizer", _NEWER),
    _Row(("LLMInferenceService",), r"unknown (prefill\.)?scaling\.keda|spec\.(prefill\.)?scaling: .*wva", _NEWER),
    _Row(("SparkApplication",), r"unknown managedBy", _NEWER),
    _Row(("SparkApplication",), r"spec\.executor\.memory: .*of type string", _REFUSED),
    _Row(("FlinkDeployment", "FlinkBlueGreenDeployment"), r"unknown .*Manager\.resources", _NEWER),
    _Row(("PodCliqueSet",), r"spec\.template\.cliques\[\d\]\.spec\.replicas: Required", _FILLED),
    _Row(("KafkaNodePool",), r"unknown template\.pod\.templatedVolumes", "v1 has it since Strimzi 1.2"),
    _Row(("SeldonDeployment",), r"unknown predictors\[\d\]\.graph\.children", "the chart's CRD keeps them"),
    _Row(("RayCluster",), r"spec\.workerGroupSpecs\[\d\]\.groupName: Required", _REFUSED),
    _Row(("TrainJob",), r"unknown (podTemplateOverrides|labels)", "Trainer 2.1 has it"),
    _Row(("TrainJob",), r"unknown podSpecOverrides", "Trainer 2.0 has it"),
)


@dataclass
class Tally:
    """What was validated: ``refused`` has each complaint that no row explains, with its case."""

    validated: int = 0
    kinds: set[str] = field(default_factory=set)
    explained: Counter[str] = field(default_factory=Counter)
    refused: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        rows = "".join(f"\n  {count} {row}" for row, count in self.explained.most_common())
        objects = f"{self.validated} objects of the suites of {len(self.kinds)} kinds"
        return f"{objects}, {len(self.refused)} complaints without a reason{rows}"

    def failures(self) -> Iterator[str]:
        """Yield each complaint, and rows that explain nothing."""
        yield from self.refused
        for row in ROWS:
            if str(row) not in self.explained and self.kinds.issuperset(row.kinds):
                yield f"the row explains nothing: {row}"
        if not self.kinds:
            yield "no object was validated"


class _Given(NamedTuple):
    gvk: GVK
    case: Case
    spec: Object


def compare(program: Path, files: Sequence[Path], more: Sequence[Path] = ()) -> Tally:
    """Validate the objects of the suites of all kinds whose CRD is of no release before that of the definition."""
    tally, told = Tally(), crds_of(more).keys()
    given = [each for entry in entries() for each in _given(entry, told)]
    lines = "".join(json.dumps({**each.gvk.type_meta, "spec": each.spec}) + "\n" for each in given)
    command = [str(program), *map(str, (*files, *more))]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    for each, answer in zip(given, map(json.loads, done.stdout.splitlines()), strict=True):
        if answer:
            tally.validated += 1
            tally.kinds.add(each.gvk.kind)
            _judge(each, [*answer["refused"], *(f"unknown {path}" for path in answer["unknown"] or ())], tally)
    return tally


def _given(entry: Entry, told: Collection[tuple[str, str]]) -> Iterator[_Given]:
    assert entry.definition
    has_crd = entry.definition.gvk[::2] in told or _is_new(entry.definition)
    for case in entry.cases if has_crd else ():
        for obj in (case.call.object, case.call.observed):
            if case.error is None and obj and "spec" in obj:
                yield _Given(entry.definition.gvk, case, obj["spec"])


def _is_new(definition: Definition) -> bool:
    """Return whether the CRD of the proofs is of the release that a definition was written from, or of a newer one."""
    project, release = next(written_from(definition))
    upstream = upstreams()[project]
    own, of_proofs = order(upstream.releases[release]), order(upstream.conformance or "")
    return own is not None and of_proofs is not None and of_proofs >= own


def _judge(given: _Given, complaints: Sequence[str], tally: Tally) -> None:
    for complaint in complaints:
        row = next((row for row in ROWS if row.explains(given.gvk.kind, complaint)), None)
        if row:
            tally.explained[str(row)] += 1
        elif not _LEFT_OUT.fullmatch(complaint):
            place = f"{Path(given.case.source).name}:{given.case.line} {given.case.name}"
            tally.refused.append(f"{given.gvk}, {place}: {complaint[:200]}")
