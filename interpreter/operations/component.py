"""InterpretComponent: every pod set of a workload with its own count and requirements."""

from interpreter.k8s.values import JSON, Object
from interpreter.karta.definition import Definition
from interpreter.karta.pods import pod_sets
from interpreter.operations.call import Options
from interpreter.operations.replica import requirements_of


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
