"""InterpretComponent: every pod set of a workload with its own count and requirements."""

from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.karta import Definition, pod_sets
from karta_interpreter.operations.call import Options
from karta_interpreter.operations.interpret_replica import requirements_of


def interpret_component(definition: Definition, obj: Object, options: Options) -> list[JSON]:
    """Return Karmada's ``components``: name, replicas and requirements of every pod set, in definition order."""
    components: list[JSON] = []
    for pods in pod_sets(definition, obj):
        component: dict[str, JSON] = {"name": pods.name, "replicas": pods.replicas}
        requirements = requirements_of(definition, pods, options.pod_requests)
        wire = requirements.to_json(priority_class=options.resource_quota_estimate)
        if wire is not None:
            component["replicaRequirements"] = wire
        components.append(component)
    return components
