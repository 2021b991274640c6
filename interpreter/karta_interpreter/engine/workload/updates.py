"""Merges new values into the object. None leaves an instance as it is. Without a change the object is the same."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from karta_interpreter.base.errors import ComponentNotFoundError, PathNotWritableError, WorkloadError
from karta_interpreter.base.findings import did_you_mean
from karta_interpreter.base.k8s import JSON, Object, Path, type_name
from karta_interpreter.definitions.karta import Component, PodSpec, PodTemplate
from karta_interpreter.engine.evaluation import JSON_TYPES, OBJECT_TYPES, PIECE_TYPES
from karta_interpreter.engine.workload.document import check_directives, check_json
from karta_interpreter.engine.workload.extraction import PIECES, FragmentedPodSpec
from karta_interpreter.engine.workload.merging import merge, name_of, patch
from karta_interpreter.engine.workload.writing import Change, WritePlan, check_pods_exist


@dataclass(frozen=True, slots=True)
class _Target:
    """The field of a component's definition through which values are written."""

    component: Component
    field: str
    type: type
    go_type: str = ""

    def stage(self, plan: WritePlan, changes: Mapping[str, Change], below: Path = ()) -> None:
        """Plan changes, if there are any. Raises PathNotWritableError if the definition has no expression."""
        query = self.component.pod_queries.get(self.field)
        if changes and query is None:
            raise PathNotWritableError(f"{self}: the definition has no such path, so there is no place to write to")
        if changes and query is not None:
            plan.stage(self.field, query, changes, below)

    def checked(self, value: JSON) -> JSON:
        """Return a value that can be stored. Raises WorkloadError for any other."""
        if type(value) is not self.type:
            needed = type_name(self.type())
            raise WorkloadError(f"{self}: the new value must be {needed}, not of type {type(value).__name__}")
        try:
            check_json(value)
            check_directives(value)
        except WorkloadError as err:
            raise WorkloadError(f"{self}: the new value cannot be stored: {err}") from err
        return value

    def merging(self, values: Mapping[str, JSON]) -> Mapping[str, Change]:
        """Return the changes that merge values into existing ones. Raises errors as `checked`."""
        return {
            name: partial(merge, new=self.checked(value), go_type=self.go_type)
            for name, value in values.items()
            if value is not None
        }

    def __str__(self) -> str:
        return f"{self.component}, {self.field}"


def update_field(field: str, component: Component, obj: Object, values: Mapping[str, Object | None]) -> Object:
    """Return the object with new values at the outputs of one field's expression."""
    plan, target = WritePlan(component, obj), _Target(component, field, dict, OBJECT_TYPES[field])
    target.stage(plan, target.merging(values))
    return plan.commit()


def update_fragments(component: Component, obj: Object, specs: Mapping[str, FragmentedPodSpec]) -> Object:
    """Return the object with new pieces of pods."""
    _check_types(component, specs, FragmentedPodSpec)
    plan = WritePlan(component, obj)
    for field, piece in PIECES.items():
        target = _Target(component, field, JSON_TYPES[field], PIECE_TYPES[field])
        target.stage(plan, target.merging({name: getattr(spec, piece) for name, spec in specs.items()}))
    return plan.commit()


@dataclass(frozen=True, slots=True, kw_only=True)
class PodChanges:
    """The changes for the pods of an instance. None leaves a setting as it is, an empty text or list clears it."""

    scheduler_name: str | None = None
    priority_class_name: str | None = None
    labels: Mapping[str, str | None] | None = None
    """Added to the existing labels. None removes a key. ``annotations`` and ``node_selector`` work the same way."""
    annotations: Mapping[str, str | None] | None = None
    node_selector: Mapping[str, str | None] | None = None
    tolerations: Sequence[JSON] | None = None
    pod_affinity: Object | None = None
    node_affinity: Object | None = None
    resource_claims: Sequence[JSON] | None = None
    containers: Mapping[str, Object] | None = None
    """A change for each container by name, merged as in RFC 7386."""


_PLACES: Mapping[str, tuple[Path, type]] = {
    "scheduler_name": (("spec", "schedulerName"), str),
    "priority_class_name": (("spec", "priorityClassName"), str),
    "labels": (("metadata", "labels"), dict),
    "annotations": (("metadata", "annotations"), dict),
    "node_selector": (("spec", "nodeSelector"), dict),
    "tolerations": (("spec", "tolerations"), list),
    "pod_affinity": (("spec", "affinity", "podAffinity"), dict),
    "node_affinity": (("spec", "affinity", "nodeAffinity"), dict),
    "resource_claims": (("spec", "resourceClaims"), list),
    "containers": (("spec", "containers"), dict),
}
"""The path of each setting in a pod template, and the type of its change."""

_FRAGMENTS = {piece: field for field, piece in PIECES.items()}
_MAPS = ("labels", "annotations", "node_selector")


def update_pods(component: Component, obj: Object, changes: Mapping[str, PodChanges]) -> Object:
    """Return the object with changed pods. Raises PathNotWritableError without pods or a path for the change."""
    _check_types(component, changes, PodChanges)
    check_pods_exist(component, obj, changes)
    plan = WritePlan(component, obj)
    for setting in _PLACES:
        fields = {name: getattr(change, setting) for name, change in changes.items()}
        fields = {name: value for name, value in fields.items() if value is not None}
        target, below = _target(component, setting)
        target.stage(plan, _changes(target, setting, fields), below)
    return plan.commit()


def _check_types(component: Component, values: Mapping[str, object], expected: type) -> None:
    for value in values.values():
        if not isinstance(value, expected):
            raise WorkloadError(f"{component}: give a {expected.__name__} for an instance, not {type(value).__name__}")


def _target(component: Component, setting: str) -> tuple[_Target, Path]:
    """Return the field through which a setting is written, and the path of the setting below it."""
    (path, kind), piece = _PLACES[setting], _FRAGMENTS.get(setting, setting)
    match component.pods:
        case PodTemplate():
            field, below = "podTemplateSpecPath", path
        case PodSpec():
            field, below = "podSpecPath" if path[0] == "spec" else "metadataPath", path[1:]
        case _:  # pieces, or no pods: without an expression `stage` reports the name of the setting
            field, below = piece, ()
    return _Target(component, field, kind, PIECE_TYPES.get(piece, "")), below


def _changes(target: _Target, setting: str, fields: Mapping[str, JSON]) -> Mapping[str, Change]:
    if setting in _MAPS:
        for value in fields.values():
            _check_texts(target, target.checked(value))
        return {name: partial(_with_keys, change=value) for name, value in fields.items()}
    if setting != "containers":
        return target.merging(fields)
    return {name: partial(_containers, target=target, changes=target.checked(value)) for name, value in fields.items()}


def _check_texts(target: _Target, values: Mapping[str, JSON]) -> None:
    """Raise WorkloadError if the value of a label or the like is neither a text nor None (which removes it)."""
    for key, value in values.items():
        if not isinstance(value, str | None):
            raise WorkloadError(f"{target}: the value of {key} must be a string, not of type {type(value).__name__}")


def _with_keys(old: JSON, change: Mapping[str, str | None]) -> JSON:
    changed = patch(old, change)
    return changed if changed or old else old  # no key to add or to remove: not even an empty object is added


def _containers(old: JSON, target: _Target, changes: Mapping[str, Object | None]) -> JSON:
    containers = old if isinstance(old, list) else []
    names = [name for name in map(name_of, containers) if name is not None]
    for name, change in changes.items():
        if name not in names:
            raise ComponentNotFoundError(f'{target}: there is no container "{name}"; {did_you_mean(name, names)}')
        if not isinstance(change, dict | None):
            raise WorkloadError(
                f"{target}: the change of {name} must be an object, not of type {type(change).__name__}"
            )
    return [
        patch(container, change) if (change := changes.get(name_of(container) or "")) else container
        for container in containers
    ]
