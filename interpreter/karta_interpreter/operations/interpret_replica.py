"""InterpretReplica: how many pods a workload has, and what one of them needs."""

from karta_interpreter.errors import InterpretationError
from karta_interpreter.k8s.projection import Projection
from karta_interpreter.k8s.requirements import (
    REQUIREMENTS_READ,
    Counting,
    PodRequirements,
    merge_requirements,
    pod_requirements,
)
from karta_interpreter.k8s.values import Object
from karta_interpreter.karta.definition import Definition
from karta_interpreter.karta.pods import PodSet, pod_sets, template_reads


def interpret_replica(definition: Definition, obj: Object, counting: Counting) -> tuple[int, PodRequirements]:
    """Return the number of pods over all pod sets and the requirements that fit each of them.

    Several pod sets answer as one: per resource the largest request, a node claim only where all agree. Pod sets
    scaled to zero do not count, unless all are.
    """
    sets = pod_sets(definition, obj)
    if len(sets) == 1:
        return sets[0].replicas, requirements_of(definition, sets[0], counting)
    asking = [pods for pods in sets if pods.replicas] or sets
    requirements = merge_requirements([requirements_of(definition, pods, counting) for pods in asking])
    return sum([pods.replicas for pods in sets]), requirements


def requirements_of(definition: Definition, pods: PodSet, counting: Counting) -> PodRequirements:
    """Return what one pod of a pod set needs; an unreadable template is an error that names the pod set."""
    try:
        return pod_requirements(pods.template, counting)
    except InterpretationError as error:
        raise InterpretationError(f"definition {definition.name}, pod template of {pods.name}: {error}") from error


def replica_reads(definition: Definition, projection: Projection) -> None:
    """Mark what InterpretReplica and InterpretComponent read of an object."""
    projection.take("metadata.namespace")
    template_reads(definition, projection, *REQUIREMENTS_READ)
