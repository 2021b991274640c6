"""What a queue such as Kueue owns of a workload: whether it runs, and what it has added to the pods that run.

Kueue adds to the pod templates of a workload what the flavors ask for that it has assigned, and takes it away when it
suspends the workload (``Merge`` and ``RestorePodSpec`` in ``pkg/podset``). A gate of its own is there in either case
(``pkg/workloadslicing``).
"""

from karta_interpreter.jq.inprocess.reads import take_outputs
from karta_interpreter.k8s.edit import get, set_value
from karta_interpreter.k8s.fields import label
from karta_interpreter.k8s.projection import Projection
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.karta import Definition
from karta_interpreter.operations.list_matching import Correspondence
from karta_interpreter.operations.union import filled, identity, united


def is_queued(definition: Definition, obj: Object) -> bool:
    """Return whether an object has the label of a queue, in a kind that can be suspended."""
    return bool(definition.suspend) and any(label(obj, name) for name in definition.annotations.queue_labels)


def keep_queued(definition: Definition, places: Correspondence, template: Object, observed: Object) -> Object:
    """Return the template of a queued object with the member's switch and what the queue has added to its pods.

    The template's own values prevail: a queue only adds what is not there.
    """
    kept = _keep_switches(definition, places, template)
    is_held = _is_suspended(definition, observed)
    for fields in definition.queued:
        if is_held and not fields.while_held:
            continue
        for place, value in places.shared(fields.query, kept, strict=False):
            if isinstance(get(kept, place[: -fields.missing]), dict):
                kept = set_value(kept, place, _added(get(kept, place), value))
    return kept


def queue_reads(definition: Definition, projection: Projection) -> None:
    """Mark what `is_queued` and `keep_queued` read of both objects; the switches are for the caller to mark."""
    if definition.suspend:
        for name in definition.annotations.queue_labels:
            projection.at("metadata", "labels", name).take_all()
    take_outputs(projection, *(fields.query for fields in definition.queued))


def _added(ours: JSON, theirs: JSON) -> JSON:
    return united(ours, theirs, identity) if isinstance(theirs, list) else filled(ours, theirs)


def _keep_switches(definition: Definition, places: Correspondence, template: Object) -> Object:
    """Return the template with the member's switches; a member without the field means the value that resumes."""
    kept = template
    for component in definition.components:
        resumed = {action.path: action.value for action in component.resume}
        for query in dict.fromkeys(action.path for action in (*component.suspend, *component.resume)):
            for place, value in places.shared(query, kept, resumed.get(query)):
                kept = set_value(kept, place, value)
    return kept


def _is_suspended(definition: Definition, obj: Object) -> bool:
    """Return whether the object has all values that suspend it."""
    return all(value == action.value for action in definition.suspend for value in action.path.evaluate(obj))
