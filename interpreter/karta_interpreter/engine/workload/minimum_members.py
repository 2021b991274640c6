"""How many pods have to start together."""

from karta_interpreter.base.errors import ComponentNotFoundError, WorkloadError
from karta_interpreter.base.k8s import Object
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.engine.evaluation import instance_ids, scale_locations


def minimum_members(definition: Definition, obj: Object, component: str, instance: str | None = None) -> int:
    """Return how many pods of a component and below it have to start together, across the whole workload.

    For each instance its minimum counts. If that is unset or 0, its replicas count, and without replicas one pod. Pods
    that the object does not describe do not count. With ``instance``, only that instance of the component itself
    counts. Raises ComponentNotFoundError, and InterpretationError as
    `karta_interpreter.engine.evaluation.pods.pod_sets`.
    """
    chosen = definition.component(component)
    if chosen is None:
        raise ComponentNotFoundError(f'definition {definition.name} has no component "{component}"')
    if instance == "":
        raise WorkloadError(f"component {component}: an instance id is not empty; leave it out for all instances")
    if instance is not None and instance not in instance_ids(chosen, obj):
        raise ComponentNotFoundError(f'component {component} has no instance "{instance}"')
    return sum(
        location.scale.minimum or location.scale.effective
        for location in scale_locations(definition, obj)
        if chosen in definition.lineage(location.pod_set.component)
        and (location.pod_set.component != component or instance in (None, location.pod_set.instance))
    )
