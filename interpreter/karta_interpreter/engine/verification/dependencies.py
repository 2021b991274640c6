"""InterpretDependency: are all objects named that the pods refer to, and that nobody makes in the member?"""

import json
from collections.abc import Iterator
from functools import partial
from typing import Final

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import (
    DEPENDENCY_NAMES,
    claim_dependencies,
    get,
    namespace,
    objects_in,
    parts_within,
    pod_dependencies,
)
from karta_interpreter.base.k8s.yaml_writer import to_yaml_line
from karta_interpreter.definitions.karta import Definition, resolved
from karta_interpreter.engine.fights.rounds import field_of
from karta_interpreter.engine.operations import Call, Operation, interpret, named_objects
from karta_interpreter.engine.verification.evidence import Evidence
from karta_interpreter.engine.verification.judgement import NO_PODS, Judgement, Question, Verdict, pod_field
from karta_interpreter.engine.verification.members import components_of

_FIELD: Final = "metadata.annotations.karta-interpreter.io/dependencies"
_CHILDREN: Final = ("spec", "structureDefinition", "additionalChildKinds")
_COMPONENTS: Final = "spec.structureDefinition.childComponents"
# Made by Kubernetes under this name (`RootCACertConfigMapName`). It names no owner, so that nothing else tells.
_IN_EVERY_NAMESPACE: Final = frozenset({("ConfigMap", "kube-root-ca.crt")})

_differs = partial(Judgement, Question.DEPENDENCIES, Verdict.DIFFERS)


def judge_dependencies(definition: Definition, evidence: Evidence) -> Iterator[Judgement]:
    """Compare the answer with the objects that the pods refer to."""
    definition = resolved(definition, evidence.object, evidence.reader)
    call = Call(Operation.INTERPRET_DEPENDENCY, evidence.object)
    answered = interpret(definition, call, reader=evidence.reader)["dependencies"]
    named = {(dependency["kind"], dependency.get("name")) for dependency in answered} | _IN_EVERY_NAMESPACE
    # What is of another namespace is left out of the answer: its owner propagates it.
    referred = named_objects(definition, evidence.object, [])
    named |= {(each.kind, each.name or None) for each in referred if each.namespace != namespace(evidence.object)}
    if not evidence.pods:
        yield Judgement(Question.DEPENDENCIES, Verdict.UNJUDGED, NO_PODS)
    # The controller may make an object of these kinds without an owner.
    children = {child.get("kind") for child in objects_in(get(definition.manifest, _CHILDREN))}
    described = {field: value for field, value in evidence.object.items() if field not in ("metadata", "status")}
    for api_version, kind, name, component in sorted(set(_referred(definition, evidence))):
        if (kind, name) in named or (kind, None) in named or evidence.made.get(f"{kind}/{name}"):
            continue
        if path := next((path for path, value in parts_within(described) if value == name), None):
            line = _line(api_version, kind, field_of(path))
            if {part.partition("[")[0] for part in DEPENDENCY_NAMES}.isdisjoint(path):
                field = _FIELD
            else:  # in a pod template
                field = pod_field(definition, component) if component else _COMPONENTS
            yield _differs(f"the {kind} at {field_of(path)} is not named", name, field, line)
        elif f"{kind}/{name}" in evidence.made and kind not in children:
            reason = (
                f"the {kind} {name} is not named: pods refer to it, the object does not, and no controller has made it"
            )
            yield _differs(reason, "", _FIELD, _line(api_version, kind, json.dumps(name)))
        else:
            yield Judgement(
                Question.DEPENDENCIES,
                Verdict.UNJUDGED,
                f"pods refer to a {kind} that the object does not name, and nobody tells who has made it",
                name,
            )


def _line(api_version: str, kind: str, name: str) -> str:
    """Return the line of the annotation ``dependencies`` about an object, of which jq gives the name."""
    return f"- {to_yaml_line({'apiVersion': api_version, 'kind': kind, 'name': name})}"


def _referred(definition: Definition, evidence: Evidence) -> Iterator[tuple[str, str, str, str]]:
    """Yield what each pod refers to, and the component of the pod, "" if several may have it."""
    within = namespace(evidence.object)
    for pod in evidence.pods:
        pod_name, components = str(get(pod, ("metadata", "name"))), components_of(definition, pod)
        try:
            dependencies = (*pod_dependencies(pod, within), *claim_dependencies(pod, within))
        except InterpretationError:
            continue
        # A controller makes what has the name of a pod, such as the claims of a StatefulSet.
        yield from (
            (
                dependency.api_version,
                dependency.kind,
                dependency.name,
                components[0].name if len(components) == 1 else "",
            )
            for dependency in dependencies
            if pod_name not in dependency.name
        )
