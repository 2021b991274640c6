"""Write the suites of roll-outs from the facts of each kind: ``python -m tests.catalogue.roll_outs``.

The facts say what an operator writes into a status in the middle of a roll-out, and which answer is right.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from docs.tools.facts import NAME, WANTED, Moment, RollOut, Wait, read_facts
from karta_interpreter.base.k8s.values import GVK, Object
from karta_interpreter.languages.jq import Query
from tests.catalogue.entries import PATHS
from tests.catalogue.tables import patched

SUITE: Final = "testdata/rollout.yaml"
_MOMENTS: Final[dict[Moment, tuple[str, str]]] = {
    "edited": ("nobody has seen the edit", "The status is of the pods before."),
    "pending": ("the first new pod is pending", "No new pod is ready."),
    "half": ("half way", "As many pods as wanted are ready, and one of them is of the template before."),
    "overdue": ("beyond its deadline", "The operator has given up, or says that it takes too long."),
    "again": ("a second edit", "Nobody has seen it, and the first roll-out goes on."),
}


class State(NamedTuple):
    """How far a roll-out is: its pods of any template, the new ones, and those of them that are not ready."""

    total: int = WANTED
    updated: int = WANTED
    unready: int = 0
    observed: int = 2
    is_overdue: bool = False

    @property
    def is_over(self) -> bool:
        """Whether only new pods are there, as many as wanted, and all of them are ready."""
        return self.total == self.updated == WANTED and not self.unready

    @property
    def is_short(self) -> bool:
        """Whether fewer new pods are ready than wanted."""
        return self.updated - self.unready < WANTED


class Question(NamedTuple):
    """An object in the middle of a roll-out, and whether it is healthy."""

    name: str
    reason: str
    object: Object
    healthy: bool


def object_in(roll_out: RollOut, state: State, generation: int = 2, patch: Object | None = None) -> Object:
    """Return the object as the operator leaves it in a state."""
    counters = {
        "wanted": WANTED,
        "total": state.total,
        "old": state.total - state.updated,
        "updated": state.updated,
        "updatedReady": state.updated - state.unready,
        "ready": state.total - state.unready,
        "observed": state.observed,
        "overdue": state.is_overdue,
        "done": state.is_over,
    }
    status = Query.compile(roll_out.status).first(counters)
    namespace = {} if roll_out.is_of_the_cluster else {"namespace": "web"}
    metadata = {"name": "it", **namespace, "generation": generation}
    obj = patched({"metadata": metadata, **roll_out.object, "status": status}, patch or {})
    assert isinstance(obj, dict)
    return obj


def states(roll_out: RollOut) -> Iterator[State]:
    """Yield all states between before and after. Pods of the template before are ready."""
    most = 2 * WANTED if roll_out.surge else WANTED
    for updated in range(WANTED + 1):
        for total in range(max(updated, 1), min(most, updated + WANTED) + 1):
            yield from (State(total, updated, unready) for unready in range(updated + 1))


def state_of(wait: Wait) -> State:
    """Return the state of the counters in which a roll-out waits."""
    return State(wait.total, wait.updated, wait.unready)


def questions(roll_out: RollOut) -> Iterator[Question]:
    """Yield the moments of a roll-out."""
    moments: dict[Moment, tuple[State, int]] = {
        "edited": (State(observed=1), 2),
        "pending": (_pending(roll_out), 2),
        "half": (_half(roll_out), 2),
        "overdue": (_pending(roll_out)._replace(is_overdue=True), 2),
        "again": (_half(roll_out), 3),
    }
    for moment, (state, generation) in moments.items():
        if moment not in roll_out.lacks:
            name, reason = _MOMENTS[moment]
            yield _question(roll_out, name, reason, object_in(roll_out, state, generation), moment in roll_out.healthy)
    over = object_in(roll_out, State(observed=3), 3)
    yield _question(roll_out, "over, or rolled back", "All pods are of the present template and ready.", over, True)
    for wait in roll_out.waits:
        obj = object_in(roll_out, state_of(wait), patch=wait.patch)
        yield _question(roll_out, wait.state, f"{wait.reason[0].upper()}{wait.reason[1:]}.", obj, wait.healthy)


def _question(roll_out: RollOut, name: str, reason: str, obj: Object, healthy: bool) -> Question:
    prefix = f"{roll_out.name or 'a roll-out'}, "
    return Question(prefix + name, f"{reason} By {roll_out.source}.", obj, healthy)


def _is_blue_green(roll_out: RollOut) -> bool:
    return "blueGreen" in roll_out.object["spec"].get("strategy", {})


def _pending(roll_out: RollOut) -> State:
    if _is_blue_green(roll_out):
        return State(2 * WANTED, WANTED, WANTED)
    return State(WANTED + roll_out.surge, 1, 1)


def _half(roll_out: RollOut) -> State:
    return State(2 * WANTED, WANTED, 1) if _is_blue_green(roll_out) else State(WANTED, WANTED - 1)


def suite_of(gvk: GVK, roll_outs: Iterator[RollOut]) -> str:
    """Return the text of the suite."""
    cases = [
        {
            "name": question.name,
            "description": question.reason,
            "observedObj": {"apiVersion": gvk.api_version, "kind": gvk.kind, **question.object},
            "operation": "InterpretHealth",
            "output": {"healthy": question.healthy},
        }
        for roll_out in roll_outs
        for question in questions(roll_out)
    ]
    return yaml.dump_all(cases, Dumper=_Dumper, sort_keys=False, width=120, allow_unicode=True)


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        del data
        return True


def suites() -> Iterator[tuple[Path, str]]:
    """Yield the path and the text of each suite."""
    for path in PATHS:
        roll_outs = read_facts(path.with_name(NAME)).roll_outs
        if roll_outs:
            group, version, kind = path.parts[-4:-1]
            yield path.parent / SUITE, suite_of(GVK("" if group == "core" else group, version, kind), iter(roll_outs))


def main() -> None:
    """Write the suites."""
    for path, text in suites():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
