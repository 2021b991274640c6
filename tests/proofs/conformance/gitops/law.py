"""GitOps tools judge an aggregated status as they judge the members' own.

A template is committed to a repository, and Argo CD, ``kubectl rollout status`` or Flux (kstatus) waits for it. Members
with one verdict give the template that verdict. Members with different verdicts never give it the good one.
"""

import json
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from karta_interpreter.base.k8s.values import Object
from tests.catalogue.entries import entries
from tests.proofs.conformance.gitops.aggregates import Aggregate, aggregates
from tests.proofs.conformance.reasons import Reasons

GOOD = {"argocd": "Healthy", "kubectl": "done", "kstatus": "Current"}
"""The verdict of each tool that lets a pipeline go on."""

REASONS = Path(__file__).with_name("known.yaml")
_UNJUDGED = {"", "error"}
_LONGEST = 600

Verdicts = Mapping[str, str]


@dataclass
class Tally:
    """What came of comparing verdicts."""

    asked: Counter[str] = field(default_factory=Counter)
    kinds: dict[str, set[str]] = field(default_factory=dict)
    differences: Reasons = field(default_factory=lambda: Reasons(REASONS))

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
                    self.differences.count(about, _example(aggregate))

    def __str__(self) -> str:
        lines = [f"{tool}: {count} verdicts on {len(self.kinds[tool])} kinds" for tool, count in self.asked.items()]
        return "\n".join([*lines, str(self.differences)])

    def failures(self) -> Iterator[str]:
        """Yield the differences without a reason, each with an example, and the reasons that nothing needs any more."""
        return self.differences.failures()


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
