"""Containers that all pods of a component have and its template does not."""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import Object, get, objects_in
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.engine.drafting.pieces import LISTS, amounts_of, containers_of
from karta_interpreter.engine.evaluation import pod_sets
from karta_interpreter.engine.verification import Evidence
from karta_interpreter.engine.verification.members import members


def added_containers(definition: Definition, evidence: Sequence[Evidence]) -> dict[str, set[int]]:
    """Return the line of each component with more containers in all of its pods, and the numbers of the objects."""
    found: dict[str, list[tuple[int, set[str]]]] = defaultdict(list)
    for number, shown in enumerate(evidence):
        for component, containers in _groups(definition, shown):
            found[component].append((number, containers))
    lines = {}
    for component, own in found.items():
        if everywhere := set.intersection(*(containers for _, containers in own)):
            lists = (f"{kind}: [{', '.join(each)}]" for kind in LISTS if (each := _of(kind, everywhere)))
            quoted = ", ".join(lists).replace("'", "''")
            lines[f"{component}: '{{{quoted}}}'"] = {number for number, _ in own}
    return lines


def _of(kind: str, containers: set[str]) -> list[str]:
    return sorted(each.partition(" ")[2] for each in containers if each.startswith(f"{kind} "))


def _groups(definition: Definition, shown: Evidence) -> Iterator[tuple[str, set[str]]]:
    """Yield each component with the containers of its pods that the template lacks, apart from those of webhooks."""
    with suppress(InterpretationError):
        for group in members(definition, shown.object, pod_sets(definition, shown.object), shown.active).groups:
            components = {pods.component for pods in group.sets}
            if group.pods and len(components) == 1:
                yield components.pop(), set(_missing(group.sets[0].template, group.pods[0]))


def _missing(template: Object, pod: Object) -> Iterator[str]:
    """Yield the list and the expression of each container of a pod that its template lacks."""
    for kind in LISTS:
        names = {each.get("name") for each in objects_in(get(template, ("spec", kind)))}
        for each in containers_of(pod, kind):
            if each.get("name") not in names:
                resources = json.dumps({"requests": amounts_of(each.get("resources"))})
                yield f"{kind} {{name: {json.dumps(each.get('name'))}, resources: {resources}}}"
