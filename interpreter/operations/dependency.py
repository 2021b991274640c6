"""InterpretDependency: what a workload's pods need beside it in every cluster."""

from interpreter.errors import InterpretationError, QueryError
from interpreter.k8s.dependencies import Dependency, claim_dependencies, pod_dependencies
from interpreter.k8s.metadata import namespace as namespace_of
from interpreter.k8s.values import Object
from interpreter.karta.annotations import ExtraDependency
from interpreter.karta.definition import Definition
from interpreter.karta.pods import pod_templates
from interpreter.query import Query


def interpret_dependency(definition: Definition, obj: Object) -> list[Dependency]:
    """Return what the pod templates and the definition's ``dependencies`` annotation name, sorted, once each.

    Karmada compares answers as text (``dependencies_distributor.go``), so their order must not vary.
    """
    namespace = namespace_of(obj)
    found: set[Dependency] = set()
    for component, template in pod_templates(definition, obj):
        try:
            found.update(pod_dependencies(template, namespace))
            found.update(claim_dependencies(template, namespace))
        except InterpretationError as error:
            raise InterpretationError(f"definition {definition.name}, pod template of {component}: {error}") from error
    for extra in definition.annotations.dependencies:
        found.update(_named_by(definition, extra, obj, namespace))
    return sorted(found)


def _named_by(definition: Definition, extra: ExtraDependency, obj: Object, namespace: str) -> list[Dependency]:
    if extra.namespace is not None:
        namespace = next(iter(_texts(definition, extra.namespace, obj)), namespace)
    names = _texts(definition, extra.name, obj)
    return [Dependency(extra.api_version, extra.kind, namespace, name) for name in names]


def _texts(definition: Definition, query: Query, obj: Object) -> list[str]:
    try:
        values = query.evaluate(obj)
    except QueryError as error:
        raise InterpretationError(f"definition {definition.name}, annotation dependencies: {error}") from error
    for value in values:
        if value is not None and not isinstance(value, str):
            raise InterpretationError(
                f"definition {definition.name}, annotation dependencies: `{query.text}` must yield names, "
                f"but yields a {type(value).__name__}"
            )
    return [value for value in values if value]
