"""InterpretReplica and InterpretComponent: the number of units or pods, or of the pods by pod set, and their needs."""

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import (
    JSON,
    MOST_REPLICAS,
    REQUIREMENTS_READ,
    NewObject,
    Object,
    PodRequirements,
    Projection,
    add_requirements,
    merge_requirements,
    namespace as namespace_of,
)
from karta_interpreter.base.karmada import Results
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.engine.evaluation import PodSet, counted_requirements, pod_sets, template_reads, unit_count
from karta_interpreter.engine.operations.call import Call, Options
from karta_interpreter.engine.operations.revise_replica import revise_units
from karta_interpreter.languages.jq import Query


def interpret_replica(definition: Definition, call: Call, options: Options) -> Results:
    """Return the number of units with the requirements of one, or the number of pods with those that fit each.

    Several pod sets share one answer: the largest request per resource, and a node claim only if all agree. Pod sets
    scaled to zero do not count, unless all are.
    """
    unit = definition.annotations.unit
    if unit is not None:
        number, parts = units_and_pods(definition, unit, call.object)
        requirements = add_requirements([(count, _requirements(definition, pods, options)) for pods, count in parts])
        return {"replica": number, "requires": _of_replica(requirements, call, options)}
    sets = divisible_pod_sets(definition, call.object)
    asking = sets if len(sets) == 1 else [pods for pods in sets if pods.replicas] or sets
    requirements = merge_requirements([_requirements(definition, pods, options) for pods in asking])
    total = sum([pods.replicas for pods in sets])
    if total > MOST_REPLICAS:
        raise InterpretationError(f"the replicas add up to {total}, more than {MOST_REPLICAS}")
    return {"replica": total, "requires": _of_replica(requirements, call, options)}


def _of_replica(requirements: PodRequirements, call: Call, options: Options) -> NewObject | None:
    namespace = namespace_of(call.object) if options.resource_quota_estimate else ""
    return requirements.to_json(namespace=namespace, priority_class=options.resource_quota_estimate)


def units_and_pods(definition: Definition, unit: Query, obj: Object) -> tuple[int, list[tuple[PodSet, int]]]:
    """Return the number of units of an object, and the pod sets with the number of pods that a unit has of each.

    An object without units is asked with one, and one without pod templates has none.
    Raises InterpretationError if the units do not multiply the pods.
    """
    number = unit_count(definition, unit, obj)
    one_or_more = number or 1
    parts = list[tuple[PodSet, int]]()
    for pods in pod_sets(definition, obj if number else revise_units(definition, obj, 1)):
        count, remainder = divmod(pods.replicas, one_or_more)
        if remainder:
            raise unit.unusable(f"gives {number}, which does not divide the {pods.replicas} pods of {pods.name}")
        parts.append((pods, count))
    return number if parts else 0, parts


def interpret_component(definition: Definition, call: Call, options: Options) -> Results:
    """Return name, replicas and requirements of every pod set, in the order of the definition."""
    components: list[JSON] = []
    for pods in divisible_pod_sets(definition, call.object):
        component: NewObject = {"name": pods.name, "replicas": pods.replicas}
        requirements = _requirements(definition, pods, options)
        if wire := requirements.to_json(priority_class=options.resource_quota_estimate):
            component["replicaRequirements"] = wire
        components.append(component)
    return {"components": components}


def divisible_pod_sets(definition: Definition, obj: Object) -> tuple[PodSet, ...]:
    """Return the pod sets that Karmada may divide: none if only the status counts them.

    Before the first report there would be no replicas with requirements, which Karmada divides between no clusters, so
    that no report ever came. Later the number would follow the pods that run.
    """
    return () if definition.is_counted_by_status else pod_sets(definition, obj)


def replica_reads(definition: Definition, projection: Projection) -> None:
    """Mark what InterpretReplica and InterpretComponent read of an object."""
    projection.take("metadata.namespace")
    template_reads(definition, projection, *REQUIREMENTS_READ, "resourceClaims")


def _requirements(definition: Definition, pods: PodSet, options: Options) -> PodRequirements:
    try:
        return counted_requirements(definition, pods.template, options.pod_requests)
    except InterpretationError as error:
        raise InterpretationError(f"definition {definition.name}, pod template of {pods.name}: {error}") from error
