"""Requirements: do the pods request what the definition answers, after the admission of the member?"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, partial
from typing import Final

from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s import (
    CONTAINER_LISTS,
    Counting,
    Object,
    PodRequirements,
    annotation,
    get,
    objects_in,
    pod_requirements,
)
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.engine.evaluation.pod_states import is_active
from karta_interpreter.engine.verification.evidence import Evidence
from karta_interpreter.engine.verification.judgement import NO_PODS, Judgement, Question, Verdict, pod_field
from karta_interpreter.engine.verification.members import MemberGroup, Members

_ADDED_CONTAINERS: Final = "metadata.annotations.karta-interpreter.io/added-containers"
# The annotation ``kubernetes.io/limit-ranger`` (``plugin/pkg/admission/limitranger``).
_LIMIT_RANGE: Final = re.compile(r"([^;:]+) (request|limit) for (?:init )?container ([^;]+)")

_Container = tuple[str, str]  # its list and its name

_requests = partial(pod_requirements, counting=Counting.SCHEDULER)
_differs = partial(Judgement, Question.REQUIREMENTS, Verdict.DIFFERS)
_REPLACED: Final = (Judgement(Question.REQUIREMENTS, Verdict.UNJUDGED, "a roll-out replaces pods"),)


def judge_requirements(definition: Definition, evidence: Evidence, members: Members) -> Iterator[Judgement]:
    """Compare the requests of the pods of each pod set with the requests of its template."""
    if not any(is_active(pod) for group in members.groups for pod in group.pods):
        yield Judgement(Question.REQUIREMENTS, Verdict.UNJUDGED, NO_PODS)
        return
    for group in members.groups:
        yield from _judged(definition, evidence, group)


def _judged(definition: Definition, evidence: Evidence, group: MemberGroup) -> Iterator[Judgement]:
    if _is_elsewhere(definition, group):
        yield Judgement(Question.REQUIREMENTS, Verdict.UNJUDGED, "the object that has its containers is unknown")
        return
    requirements_of_sets = [_requests(pods_of_set.template) for pods_of_set in group.sets]
    amounts = [requirements.resource_request for requirements in requirements_of_sets]
    pods = [pod for pod in group.pods if is_active(pod)]
    # A pod from before the last edit may be of another template if something newer requests what is answered.
    is_rolling = cache(
        lambda: any(_requests(template).resource_request in amounts for template in _newer(evidence, group, pods))
    )
    causes: dict[Judgement, list[str]] = {}
    for pod in pods:
        pod_as_answered = _as_given(pod, group)
        requests = _requests(pod_as_answered)
        if requests.resource_request not in amounts:
            is_earlier = evidence.is_outdated(pod) and is_rolling()
            for cause in _REPLACED if is_earlier else _causes(definition, evidence, group, pod, pod_as_answered):
                causes.setdefault(cause, []).append(_text(requests))
    answered = _text(requirements_of_sets[0])
    for cause, requested in causes.items():
        share = f"{len(requested)} of {count(len(pods), 'pod')}"
        yield cause._replace(detail=f"{group.name}: {share}, {answered} answered, {requested[0]} requested")


def _newer(evidence: Evidence, group: MemberGroup, pods: list[Object]) -> Iterator[Object]:
    """Yield the pods from after the last edit, and the templates of the objects between."""
    for pod in pods:
        if not evidence.is_outdated(pod):
            yield _as_given(pod, group)
        for owner in evidence.owners_of(pod):
            if template := get(owner, ("spec", "template")):
                yield template


def _is_elsewhere(definition: Definition, group: MemberGroup) -> bool:
    """Return whether no template has containers, and the definition reads an object that is missing."""
    if any(_containers(own.template) for own in group.sets):
        return False
    component = definition.component(group.sets[0].component)
    queries = component.pod_queries.values() if component else ()
    return any(None in query.values.values() for query in queries)


def _text(requirements: PodRequirements) -> str:
    return _amounts_text(((requirements.to_json() or {}).get("resourceRequest")) or {})


def _amounts_text(amounts: Mapping[str, object] | None) -> str:
    return ", ".join(f"{amount} {name}" for name, amount in sorted((amounts or {}).items())) or "nothing"


def _causes(
    definition: Definition, evidence: Evidence, group: MemberGroup, pod: Object, pod_as_answered: Object
) -> Iterator[Judgement]:
    """Yield what makes a pod request something else, container by container."""
    component, template = group.sets[0].component, get(evidence.owner_of(pod), ("spec", "template"))
    ours, theirs, of_owner = _containers(group.sets[0].template), _containers(pod_as_answered), _containers(template)
    whole = pod_field(definition, component, "containersPath", "containerPath", "resourcesPath")
    amounts = pod_field(definition, component, "resourcesPath", "containerPath", "containersPath")
    texts = [query.text for leaf in definition.leaves if leaf.name == component for query in leaf.pod_queries.values()]
    different = [key for key in sorted(ours.keys() | theirs.keys()) if ours.get(key, {}) != theirs.get(key, {})]
    sides = (group.sets[0].template, pod_as_answered)
    # An init container that needs less than others changes nothing. If each hides another one, all of them are named.
    for key in [key for key in different if any(_weighs(key, side) for side in sides)] or different:
        answered, requested, name = ours.get(key), theirs.get(key), key[1]
        what = f"container {name}" if name else "a container without a name"
        is_ours = any(f'"{name}"' in text for text in texts) or name in evidence.container_names
        if answered is None and not is_ours:
            by = "a webhook" if template else "a webhook or the operator"
            if key in of_owner:
                by = "the operator"
            container = f"{{name: {json.dumps(name)}, resources: {{requests: {json.dumps(requested or {})}}}}}"
            yield _differs(
                f"{what}, {_amounts_text(requested)}, added by {by}, is not counted",
                "",
                _ADDED_CONTAINERS,
                f"{component}: '{{{_list_of(key, ours, theirs)}: [{container}]}}'",
            )
        elif answered is None:
            yield _differs(f"{what}, {_amounts_text(requested)}, is not counted", "", whole)
        elif requested is None:
            field = _added_or(definition, component, name, whole)
            yield _differs(f"{what} is counted, and pods do not have it", "", field)
        else:
            after = " after admission" if template and of_owner.get(key) != requested else ""
            yield _differs(
                f"{what} requests {_amounts_text(requested)}{after}, not {_amounts_text(answered)}",
                "",
                _added_or(definition, component, name, amounts),
            )
    if not different:
        yield _differs("the pod as a whole requests other resources than its template", "", whole)


def _weighs(key: _Container, template: Object) -> bool:
    """Return whether a pod without this container requests something else."""
    kind, name = key
    spec = template.get("spec") or {}
    others = [container for container in objects_in(spec.get(kind)) if str(container.get("name") or "") != name]
    return _requests({"spec": {**spec, kind: others}}).resource_request != _requests(template).resource_request


def _list_of(key: _Container, ours: Mapping[_Container, object], theirs: Iterable[_Container]) -> str:
    """Return the list of ``added-containers`` for a container of a pod, which may stand before the template's own."""
    kind, _ = key
    listed = [each for each in theirs if each == key or (each in ours and each[0] == kind)]
    return "firstInitContainers" if kind == "initContainers" and listed.index(key) < len(listed) - 1 else kind


def _added_or(definition: Definition, component: str, name: str, field: str) -> str:
    """Return the field that gives a container: the annotation if only that names it."""
    additions = (added for added in definition.annotations.added_containers if added.component == component)
    return _ADDED_CONTAINERS if any(f'"{name}"' in added.query.text for added in additions) else field


def _containers(template: Object) -> dict[_Container, dict[str, str]]:
    """Return the requests of each container, by its list and its name."""
    requested: dict[_Container, dict[str, str]] = {}
    for kind in CONTAINER_LISTS:
        for container in objects_in(get(template, ("spec", kind))):
            resources = container.get("resources") or {}
            amounts = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
            requested[kind, str(container.get("name") or "")] = {name: str(amount) for name, amount in amounts.items()}
    return requested


def _as_given(pod: Object, group: MemberGroup) -> Object:
    """Return the pod without what a LimitRange of its namespace and its RuntimeClass have added.

    A definition cannot know either of them.
    """
    spec, template = pod.get("spec") or {}, group.sets[0].template
    if "overhead" in spec and get(template, ("spec", "overhead")) is None:
        spec = {name: value for name, value in spec.items() if name != "overhead"}
    added = set()
    for names, section, container in _LIMIT_RANGE.findall(annotation(pod, "kubernetes.io/limit-ranger") or ""):
        for name in names.removeprefix("LimitRanger plugin set").split(","):
            added.add((container, f"{section}s", name.strip()))
    if added:
        spec = {**spec}
        for kind in CONTAINER_LISTS:
            if containers := objects_in(spec.get(kind)):
                spec[kind] = [_without(container, added) for container in containers]
    return {"spec": spec}


def _without(container: Object, added: set[tuple[str, str, str]]) -> Object:
    sections = {}
    for section, amounts in (container.get("resources") or {}).items():
        if isinstance(amounts, dict):
            own = container.get("name"), section
            sections[section] = {name: value for name, value in amounts.items() if (*own, name) not in added}
    return {**container, "resources": sections}
