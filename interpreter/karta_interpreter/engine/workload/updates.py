"""Merges new values into the object. None leaves a piece as it is. Without a change the object is the same.

Fields that a new value cannot express stay: a new value can express the fields of its Go type. Lists of objects with
``name`` as their key are merged by name.
"""

from collections.abc import Mapping
from functools import cache, partial
from typing import Final, TypeAlias

from msgspec import Struct

from karta_interpreter.base.errors import InterpreterError, PathNotWritableError, WorkloadError
from karta_interpreter.base.k8s import (
    JSON,
    Counting,
    NewObject,
    Object,
    Path,
    field_path,
    get,
    pod_requirements,
    type_name,
)
from karta_interpreter.definitions.karta import ComponentRules
from karta_interpreter.engine.evaluation import JSON_TYPES, OBJECT_TYPES, PIECE_TYPES, instance_ids
from karta_interpreter.engine.workload.document import check_json
from karta_interpreter.engine.workload.extraction import (
    PIECES,
    PLACES,
    FragmentedPodSpec,
    extract_pods,
    has_one_container,
    pieces_place,
)
from karta_interpreter.engine.workload.writing import WritePlan, check_pods_exist
from karta_interpreter.languages.jq import equal
from karta_interpreter.languages.lua.empty_tables import without_nulls
from karta_interpreter.languages.lua.gotypes.structs import declarations, decode

ByInstance: TypeAlias = Mapping[str, Object | None]
"""Objects by the id of an instance."""


class _Target(Struct, frozen=True):
    """The field of a component's definition through which values are written."""

    component: ComponentRules
    field: str
    type: type
    go_type: str

    def stage(self, plan: WritePlan, values: Mapping[str, JSON]) -> None:
        """Plan to merge values into the existing ones. None is left out.

        Raises PathNotWritableError if the definition has no expression, and errors as `merged`.
        """
        changes = {name: partial(self.merged, new=value) for name, value in values.items() if value is not None}
        query = self.component.pod_queries.get(self.field)
        if values and query is None:
            raise PathNotWritableError(
                f"{self}: the definition has no such path to write to; "
                f"it has {', '.join(self.component.pod_queries) or 'none'}"
            )
        if changes and query is not None:
            plan.stage(self.field, query, changes)

    def stage_in_whole(self, plan: WritePlan, whole: str, place: Path, obj: Object, values: Mapping[str, JSON]) -> None:
        """Plan to merge values into a place of whole pods, which the field `whole` of the definition has.

        Raises PathNotWritableError for pods that are not there, WorkloadError for a piece of one container if the pods
        have several, and errors as `merged`.
        """
        ids = instance_ids(self.component, obj)
        for name, pods in zip(ids, extract_pods(whole, self.component, obj, ids), strict=True):
            if name not in values or equal(get(pods, place), values[name]):
                continue
            check_pods_exist(self.component, obj, [name])
            self._check_depth(whole, pods)
            if not has_one_container(self.field, place, pods):
                raise WorkloadError(f"{self}: the pods have other than one container; write containers")
        changes = {name: {place: partial(self.merged, new=value)} for name, value in values.items()}
        plan.stage_parts(whole, self.component.pod_queries[whole], changes)

    def _check_depth(self, field: str, pods: JSON) -> None:
        deeper = {"podTemplateSpecPath": ("spec", "template"), "podSpecPath": ("template",)}.get(field)
        if deeper and isinstance(get(pods, (*deeper, "spec")), dict):
            query = self.component.pod_queries[field]
            reason = f"this is no pod: its {field_path(deeper)} is one level further in; nothing was changed"
            raise PathNotWritableError(f"{self.component}, {field} `{query.text}`: {reason}")

    def merged(self, old: JSON, new: JSON) -> JSON:
        """Return a new value merged into the old one. Raises WorkloadError for a value that cannot be stored."""
        if type(new) is not self.type:
            raise WorkloadError(f"{self}: the new value must be {type_name(self.type())}, not {type(new).__name__}")
        paths = ("spec", "template"), ("template",), *((name,) for name in fields_of("PodSpec"))
        wrong = next((path[-1] for path in paths if get(new, path) is not None), "")
        if wrong and self.field == "podTemplateSpecPath":
            raise WorkloadError(f"{self}: a pod template has its pod in spec, not {wrong}: write {{'spec': …}}")
        if not equal(old, new):
            self._check_depth(self.field, old)
        try:
            check_json(new)
            # Karta's own library takes the types of Kubernetes, which hold no other quantities and lists.
            specs: NewObject = {
                "PodTemplateSpec": get(new, ("spec",)),
                "PodSpec": new,
                "[]Container": {"containers": new},
                "Container": {"containers": [new]},
                "ResourceRequirements": {"containers": [{"resources": new}]},
            }
            pod_requirements({"spec": specs.get(self.go_type)}, Counting.SCHEDULER)
            if not equal(old, new):  # what an object has may be written back
                decode(self.go_type, without_nulls(new))
        except InterpreterError as err:
            raise WorkloadError(f"{self}: the new value cannot be stored: {err}") from err
        return merge(old, new, self.go_type)

    def __str__(self) -> str:
        return f"{self.component}, {self.field}"


def update_field(field: str, component: ComponentRules, obj: Object, values: ByInstance) -> Object:
    """Return the object with new values at the outputs of one field's expression.

    Where there are no pods, None may be given back as it was read. Elsewhere it raises WorkloadError.
    """
    plan, target = WritePlan(component, obj), _Target(component, field, dict, OBJECT_TYPES[field])
    target.stage(plan, values)
    ids = instance_ids(component, obj)
    old_values = dict(zip(ids, extract_pods(field, component, obj, ids), strict=False))
    if any(new is None and old_values[name] is not None for name, new in values.items()):
        raise WorkloadError(f"{target}: None removes nothing; leave out the instances that stay as they are")
    return plan.commit()


def update_fragments(component: ComponentRules, obj: Object, specs: Mapping[str, FragmentedPodSpec]) -> Object:
    """Return the object with new pieces of pods."""
    for spec in specs.values():
        if not isinstance(spec, FragmentedPodSpec):
            raise WorkloadError(f"{component}: give a FragmentedPodSpec for an instance, not {type(spec).__name__}")
    plan = WritePlan(component, obj)
    for field in PLACES:
        target = _Target(component, field, JSON_TYPES[field], PIECE_TYPES[field])
        pieces = {name: getattr(spec, PIECES[field]) for name, spec in specs.items()}
        values = {name: value for name, value in pieces.items() if value is not None}
        place = pieces_place(field, component)
        if place is None:
            target.stage(plan, values)
        elif values:
            target.stage_in_whole(plan, *place, obj, values)
    return plan.commit()


# The types that are merged field by field. A value of any other type is replaced as a whole.
_MERGED: Final = (
    *("PodTemplateSpec", "ObjectMeta", "PodSpec", "Container", "EphemeralContainer", "PodResourceClaim"),
    *("ResourceRequirements", "Affinity", "PodAffinity", "NodeAffinity"),
)
# Fields added to Kubernetes after the version of the declared types.
_NEWER: Final[Mapping[str, tuple[str, ...]]] = {"PodSpec": ("evictionResponders", "schedulingGroup")}


def merge(old: JSON, new: JSON, go_type: str) -> JSON:
    """Return the new value plus the old value's fields that its type lacks, or the same value if nothing changes.

    A null in the new value removes its field, even a field that the type lacks. Named elements are merged with the old
    elements of the same name, in the new order.

    >>> merge({"name": "main", "image": "a", "tty": True, "gpus": 1}, {"name": "main", "image": "b"}, "Container")
    {'name': 'main', 'image': 'b', 'gpus': 1}
    """
    if equal(old, new):
        return old
    element, merged = go_type.removeprefix("[]"), new
    fields = fields_of(element)
    if isinstance(new, list) and fields and element != go_type:
        by_name = {name_of(entry): entry for entry in old if name_of(entry)} if isinstance(old, list) else {}
        if by_name and not all(map(name_of, new)):
            raise WorkloadError(
                f"an entry of the new list has no name; those of the old one: {', '.join(map(str, by_name))}"
            )
        merged = [merge(by_name.get(name_of(entry)), entry, element) for entry in new]
    elif isinstance(new, dict) and fields and element == go_type:
        merged = _merged_fields(old if isinstance(old, dict) else {}, new, fields)
    return old if equal(old, merged) else merged


@cache
def fields_of(go_type: str) -> Mapping[str, str]:
    """Return the fields and their types for a type that is merged field by field, and no fields for any other type.

    >>> fields_of("PodResourceClaim")
    {'name': 'string', 'resourceClaimName': 'string', 'resourceClaimTemplateName': 'string'}
    """
    if go_type not in _MERGED:
        return {}
    declared = {field.name: field.type.removeprefix("*") for field in declarations()[go_type]}
    return declared | dict.fromkeys(_NEWER.get(go_type, ()), "")


def _merged_fields(old: Mapping[str, JSON], new: Mapping[str, JSON], fields: Mapping[str, str]) -> NewObject:
    merged: NewObject = {}
    by_letters = {field.lower(): field for field in fields}
    for field in {**old, **new}:
        known = by_letters.get(field.replace("_", "").lower(), field)  # in Python's spelling
        if known != field and field in new:
            raise WorkloadError(f"a pod has no field {field}; write {known}")
        if new.get(field) is not None:
            merged[field] = merge(old.get(field), new[field], fields.get(field, ""))
        # An old null stays. So does a field that the Go type of the new value cannot hold.
        elif field in old and (old[field] is None or not (field in new or field in fields)):
            merged[field] = old[field]
    return merged


def name_of(element: JSON) -> str | None:
    """Return the name of a list element, or None if it has no name."""
    name = element.get("name") if isinstance(element, dict) else None
    return name if isinstance(name, str) else None
