"""On pods that real controllers have made, a LabelSelector chooses those that attribution gives to the component."""

from collections import defaultdict
from contextlib import suppress

import pytest

from karta_interpreter.base.errors import WorkloadError
from karta_interpreter.base.k8s.values import GVK, Object
from karta_interpreter.definitions.karta import Definition, resolved
from karta_interpreter.definitions.sources.files import find_in_catalogue
from karta_interpreter.engine.evaluation import attributing, instance_ids, label_selector
from karta_interpreter.engine.evaluation.attribution import component_of
from karta_interpreter.engine.verification import Evidence
from tests.support.recorded import recorded, state_of
from tests.support.rows import rows


def chooses(selector: Object, pod: Object) -> bool:
    """As Kubernetes evaluates a LabelSelector."""
    labels = pod["metadata"].get("labels") or {}
    wanted = selector.get("matchLabels", {})
    existing = [expression["key"] for expression in selector.get("matchExpressions", [])]
    return all(labels.get(name) == value for name, value in wanted.items()) and all(key in labels for key in existing)


@pytest.mark.sweep
@rows("gvk", sorted(recorded(), key=str), ids=str)
def test_selector_chooses_the_pods_of_the_component(gvk: GVK) -> None:
    entry = find_in_catalogue(gvk)
    assert entry
    different = list[str]()
    for evidence in recorded()[gvk]:
        definition = resolved(entry.definition, evidence.object, evidence.reader)
        own = _own(definition, evidence)
        for component in definition.leaves:
            ids = instance_ids(component, evidence.object) if component.instance_ids else ("",)
            for instance in dict.fromkeys(("", *ids)):
                selector = label_selector(definition, component, instance).selector
                if selector is None:
                    continue
                chosen = {pod["metadata"]["name"] for pod in evidence.pods if chooses(selector, pod)}
                if chosen != own[component.name, instance]:
                    place = f"{state_of(evidence)} {component.name} {instance}"
                    different.append(f"{place}: {chosen ^ own[component.name, instance]}")
    assert different == []


def _own(definition: Definition, evidence: Evidence) -> defaultdict[tuple[str, str], set[str]]:
    """The pods by component and instance, and by component with the instance "". Others belong nowhere."""
    own = defaultdict[tuple[str, str], set[str]](set)
    for pod in evidence.pods:
        name = pod["metadata"]["name"]
        with suppress(WorkloadError):
            own[component_of(definition, pod).name, ""].add(name)
            place = attributing(definition, evidence.object)(pod)
            own[place.component, place.instance].add(name)
    return own
