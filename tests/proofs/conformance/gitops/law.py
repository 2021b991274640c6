"""GitOps tools judge an aggregated status as they judge the members' own.

A template is committed to a repository, and Argo CD, ``kubectl rollout status`` or Flux (kstatus) waits for it. Members
with one verdict give the template that verdict. Members with different verdicts never give it the good one.
"""

import json
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from karta_interpreter.base.k8s.manifest import read_documents
from karta_interpreter.base.k8s.values import Object
from tests.catalogue.entries import entries
from tests.proofs.conformance.gitops.aggregates import Aggregate, aggregates

GOOD = {"argocd": "Healthy", "kubectl": "done", "kstatus": "Current"}
"""The verdict of each tool that lets a pipeline go on."""

_UNJUDGED = {"", "error"}
_LONGEST = 600

Verdicts = Mapping[str, str]


@dataclass
class Tally:
    """What came of comparing verdicts; ``differences`` has the aggregates by what is different."""

    asked: Counter[str] = field(default_factory=Counter)
    kinds: dict[str, set[str]] = field(default_factory=dict)
    differences: dict[str, list[Aggregate]] = field(default_factory=dict)

    def judge(self, aggregate: Aggregate, members: Sequence[Verdicts], template: Verdicts) -> None:
        """Compare the verdicts of each tool on the members and on their template."""
        for tool, good in GOOD.items():
            parts = sorted(verdicts[tool] for verdicts in members)
            if _UNJUDGED.isdisjoint(parts):
                self.asked[tool] += 1
                self.kinds.setdefault(tool, set()).add(aggregate.kind)
                if not agree(parts, template[tool], good):
                    seen = f"{' + '.join(parts)} -> {template[tool]}"
                    about = f"{aggregate.kind} {tool} {aggregate.placement}: {seen}"
                    self.differences.setdefault(about, []).append(aggregate)

    def __str__(self) -> str:
        lines = [f"{tool}: {count} verdicts on {len(self.kinds[tool])} kinds" for tool, count in self.asked.items()]
        known: Counter[str] = Counter()
        for about in self.differences.keys() & reasons().keys():
            known[reasons()[about]] += len(self.differences[about])
        return "\n".join(
            [*lines, *(f"  {count} differ for a reason: {reason}" for reason, count in known.most_common())]
        )

    def failures(self) -> Iterator[str]:
        """Yield the differences without a reason, each with an example, and the reasons that nothing needs any more."""
        for about, found in sorted(self.differences.items()):
            if about not in reasons():
                yield f"{about}, {len(found)} times\n{_example(found[0])}"
        for about in sorted(reasons().keys() - self.differences.keys()):
            yield f"{about}: is not so any more, remove its reason from known.yaml"


def compare(program: Path) -> Tally:
    """Ask the tools about all aggregates and their members."""
    made = list(aggregates(entries()))
    verdicts = _verdicts(program, (thing for each in made for thing in _objects(each)))
    tally = Tally()
    for each in made:
        template, *members = (verdicts[_text(thing)] for thing in _objects(each))
        tally.judge(each, members, template)
    return tally


def agree(members: Sequence[str], template: str, good: str) -> bool:
    """Whether a verdict on the template follows from those on its members.

    >>> agree(["Progressing", "Progressing"], "Progressing", "Healthy")
    True
    >>> [agree(["Healthy", "Progressing"], verdict, "Healthy") for verdict in ("Degraded", "Healthy")]
    [True, False]
    """
    return template == members[0] if len(set(members)) == 1 else template != good


@cache
def reasons() -> Mapping[str, str]:
    """Return the reason for each known difference."""
    file = Path(__file__).parent / "known.yaml"
    (document,) = read_documents(file.read_text(encoding="utf-8"), file.name)
    return {about: entry["reason"] for entry in document.value for about in entry["differences"]}


def _objects(aggregate: Aggregate) -> Iterator[Object]:
    yield aggregate.template
    yield from (member.object for member in aggregate.members)


def _verdicts(program: Path, things: Iterable[Object]) -> dict[str, Verdicts]:
    lines = list(dict.fromkeys(map(_text, things)))
    done = subprocess.run([program], input="\n".join([*lines, ""]), capture_output=True, text=True, check=True)
    return dict(zip(lines, map(json.loads, done.stdout.splitlines()), strict=True))


def _text(thing: Object) -> str:
    return json.dumps(thing, sort_keys=True)


def _example(aggregate: Aggregate) -> str:
    parts = [(member.state, member.object) for member in aggregate.members] + [("template", aggregate.template)]
    return "\n".join(f"  {name}: {json.dumps(thing.get('status'))[:_LONGEST]}" for name, thing in parts)
