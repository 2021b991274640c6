"""Explains what Retain took from the member, and by which rule."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Final

from karta_interpreter.base.k8s import NOTHING, Object, Path, changes, get, label
from karta_interpreter.definitions.karta import Definition, Immutable, Once, Unset
from karta_interpreter.engine.explain.explanation import OBSERVED, Fact, Place
from karta_interpreter.engine.explain.reading import about, annotation_field, place_at
from karta_interpreter.engine.operations import (
    RETAIN_REPLICAS,
    Call,
    Correspondence,
    Options,
    Results,
    RetainStep,
    cannot_change,
    is_queued,
    retain_steps,
    unless_broken,
    unset_switches,
)
from karta_interpreter.languages.jq import Query

_REASONS: Final = {
    "switches": "the template leaves the switch unset",
    "queue": "a queue holds or runs the object",
    "counts": "the template leaves the count unset",
}


def retention_facts(definition: Definition, call: Call, _options: Options, _results: Results) -> Iterator[Fact]:
    """Yield each place that Retain changed, in the order of its rules."""
    before, places = call.object, Correspondence(definition, call.object, call.member)
    for path, _, is_dropped in unset_switches(definition, places, call.object, call.member):
        if is_dropped and not is_queued(definition, call.object):
            note = "the template has dropped the switch, and in the member only Karmada has written it"
            yield Fact("dropped", note, places=(place_at(path, call.member, OBSERVED),))
    for step, after in _settled(retain_steps(definition, call.object, call.member)):
        for path, *_ in changes(before, after):
            ours, value = place_at(path, before), get(after, path, NOTHING)
            theirs, fact = _source(definition, step, path, before, call.member, places)
            took = "the member's value" if theirs.exists else "the member has none"
            if isinstance(step, Unset) and step.value:
                took = "the value of the rule"
            if isinstance(step, Once) and path != step.path:
                took = "the template's list goes out, which is noted"
            removed = ", so the template's is removed" if value is NOTHING else ""
            reason = _REASONS[step] if isinstance(step, str) else f"rule {step}"
            if isinstance(step, Immutable) and step.is_final and (ours.exists or step.word == "share"):
                reason += f", which {cannot_change(definition.gvk.kind)}"
            if step == "counts" and label(call.object, RETAIN_REPLICAS) == "true":
                reason = f"the template has the label {RETAIN_REPLICAS}"
            yield replace(
                fact,
                note=f"{reason}: {took}{removed}",
                value=None if value is NOTHING else value,
                answer=f"/retained{ours.pointer}",
                # An earlier rule may have moved the value to the place.
                places=(ours, theirs) if ours == place_at(path, call.object) else (theirs,),
                writes=(ours.pointer,),
            )
        before = after
    if before is call.object:
        yield Fact("unchanged", "nothing comes from the member")


def _settled(steps: Iterable[tuple[RetainStep, Object]]) -> Iterator[tuple[RetainStep, Object]]:
    """Yield the steps, each immutable path together with the changeable ones below it."""
    immutable: RetainStep = "counts"
    for (step, after), (following, _) in pairwise((*steps, ("counts", {}))):
        if not _is_changeable(step):
            immutable = step
        if not _is_changeable(following):
            yield immutable, after


def _is_changeable(step: RetainStep) -> bool:
    return isinstance(step, Immutable) and step.word == "changeable"


def _source(
    definition: Definition, step: RetainStep, path: Path, before: Object, member: Object, places: Correspondence
) -> tuple[Place, Fact]:
    """Return the member's place for a place of the template, and the expression that names it.

    Elements of lists may have other indices in the member.
    """
    candidates = list(_named(definition, step))
    for query, fact in candidates:
        locations = unless_broken(query.locate_each, member)
        for location in filter(None, locations or ()):
            ours = places.moved(location.path, before)
            if ours is not None and path[: len(ours)] == ours:
                return place_at((*location.path, *path[len(ours) :]), member, OBSERVED), fact
    fact = Fact("retained", "") if isinstance(step, str) else candidates[0][1]
    return place_at(path, member, OBSERVED), fact


def _named(definition: Definition, step: RetainStep) -> Iterator[tuple[Query, Fact]]:
    if not isinstance(step, str):
        field = annotation_field("retain" if step in definition.annotations.retain else "state")
        yield step.place, Fact("retained", "", field=field, expression=str(step))
        return
    for component in definition.components:
        if step == "counts":
            for field, query in (("replicasPath", component.replicas), ("minReplicasPath", component.min_replicas)):
                if query is not None:
                    yield query, about(definition, component, f"scaleDefinition.{field}", query, rule="retained")
            continue
        for name, actions in (("suspendActions", component.suspend), ("resumeActions", component.resume)):
            for index, action in enumerate(actions):
                field = f"suspendDefinition.{name}[{index}].path"
                yield action.path, about(definition, component, field, action.path, rule="retained", note="")
    for fields in definition.queued if step == "queue" else ():
        yield fields.query, Fact("retained", "", expression=fields.query.text)
