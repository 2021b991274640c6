"""InterpretDependency: are all objects named that the pods refer to, and that nobody makes in the member?"""

from collections.abc import Iterator
from functools import partial
from typing import Final

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import DEPENDENCY_NAMES, Path, claim_dependencies, get, namespace, pod_dependencies
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.engine.explain.reading import paths_of_text
from karta_interpreter.engine.fights.rounds import field_of
from karta_interpreter.engine.operations import Call, Operation, interpret
from karta_interpreter.engine.verification.evidence import Evidence
from karta_interpreter.engine.verification.judgement import Judgement, Question, Verdict, pod_field

_FIELD: Final = "metadata.annotations.karta-interpreter.io/dependencies"
_COMPONENTS: Final = "spec.structureDefinition.childComponents"
_IN_EVERY_NAMESPACE: Final = frozenset({("ConfigMap", "kube-root-ca.crt")})
"""Made by Kubernetes under this name (`RootCACertConfigMapName`). It names no owner, so that nothing else tells."""

_differs = partial(Judgement, Question.DEPENDENCIES, Verdict.DIFFERS)


def judge_dependencies(definition: Definition, evidence: Evidence) -> Iterator[Judgement]:
    """Compare the answer with the objects that the pods refer to."""
    call = Call(Operation.INTERPRET_DEPENDENCY, evidence.object)
    answered = interpret(definition, call, reader=evidence.reader)["dependencies"]
    named = {(dependency["kind"], dependency.get("name")) for dependency in answered} | _IN_EVERY_NAMESPACE
    if not evidence.pods:
        yield Judgement(Question.DEPENDENCIES, Verdict.UNJUDGED, "it has no pods at present")
    described = {field: value for field, value in evidence.object.items() if field not in ("metadata", "status")}
    for api_version, kind, name in sorted(set(_referred(evidence))):
        if (kind, name) in named or (kind, None) in named or evidence.made.get(f"{kind}/{name}"):
            continue
        if path := next(paths_of_text(described, name), None):
            line = f"- {{apiVersion: {api_version}, kind: {kind}, name: '{field_of(path)}'}}"
            field = _in_template(definition, path) or _FIELD
            yield _differs(f"the {kind} at {field_of(path)} is not named", name, field, line)
        elif f"{kind}/{name}" in evidence.made:
            reason = (
                f"the {kind} {name} is not named: pods refer to it, the object does not, and no controller has made it"
            )
            yield _differs(reason, "", _FIELD, f"- {{apiVersion: {api_version}, kind: {kind}, name: '\"{name}\"'}}")
        else:
            yield Judgement(
                Question.DEPENDENCIES,
                Verdict.UNJUDGED,
                f"pods refer to a {kind} that the object does not name, and nobody tells who has made it",
                name,
            )


def _referred(evidence: Evidence) -> Iterator[tuple[str, str, str]]:
    within = namespace(evidence.object)
    for pod in evidence.pods:
        pod_name = str(get(pod, ("metadata", "name")))
        try:
            dependencies = (*pod_dependencies(pod, within), *claim_dependencies(pod, within))
        except InterpretationError:
            continue
        # A controller makes what has the name of a pod, such as the claims of a StatefulSet.
        yield from (
            (dependency.api_version, dependency.kind, dependency.name)
            for dependency in dependencies
            if pod_name not in dependency.name
        )


def _in_template(definition: Definition, path: Path) -> str:
    """Return the field of the pods whose template should have the place, or ""."""
    if not {field.partition("[")[0] for field in DEPENDENCY_NAMES} & {*path}:
        return ""
    return pod_field(definition, definition.leaves[0].name) if len(definition.leaves) == 1 else _COMPONENTS
