"""Merges new values into the object. None leaves an instance as it is. Without a change the object is the same."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from karta_interpreter.base.errors import PathNotWritableError, WorkloadError
from karta_interpreter.base.k8s import JSON, Object, type_name
from karta_interpreter.definitions.karta import Component
from karta_interpreter.engine.evaluation import JSON_TYPES, OBJECT_TYPES, PIECE_TYPES
from karta_interpreter.engine.workload.document import check_json
from karta_interpreter.engine.workload.extraction import PIECES, FragmentedPodSpec
from karta_interpreter.engine.workload.merging import merge
from karta_interpreter.engine.workload.writing import WritePlan


@dataclass(frozen=True, slots=True)
class _Target:
    """The field of a component's definition through which values are written."""

    component: Component
    field: str
    type: type
    go_type: str

    def stage(self, plan: WritePlan, values: Mapping[str, JSON]) -> None:
        """Plan to merge values into the existing ones. None leaves an instance as it is.

        Raises PathNotWritableError if the definition has no expression, and errors as `checked`.
        """
        changes = {
            name: partial(merge, new=self.checked(value), go_type=self.go_type)
            for name, value in values.items()
            if value is not None
        }
        query = self.component.pod_queries.get(self.field)
        if changes and query is None:
            raise PathNotWritableError(f"{self}: the definition has no such path, so there is no place to write to")
        if changes and query is not None:
            plan.stage(self.field, query, changes)

    def checked(self, value: JSON) -> JSON:
        """Return a value that can be stored. Raises WorkloadError for any other."""
        if type(value) is not self.type:
            needed = type_name(self.type())
            raise WorkloadError(f"{self}: the new value must be {needed}, not of type {type(value).__name__}")
        try:
            check_json(value)
        except WorkloadError as err:
            raise WorkloadError(f"{self}: the new value cannot be stored: {err}") from err
        return value

    def __str__(self) -> str:
        return f"{self.component}, {self.field}"


def update_field(field: str, component: Component, obj: Object, values: Mapping[str, Object | None]) -> Object:
    """Return the object with new values at the outputs of one field's expression."""
    plan, target = WritePlan(component, obj), _Target(component, field, dict, OBJECT_TYPES[field])
    target.stage(plan, values)
    return plan.commit()


def update_fragments(component: Component, obj: Object, specs: Mapping[str, FragmentedPodSpec]) -> Object:
    """Return the object with new pieces of pods."""
    for spec in specs.values():
        if not isinstance(spec, FragmentedPodSpec):
            raise WorkloadError(f"{component}: give a FragmentedPodSpec for an instance, not {type(spec).__name__}")
    plan = WritePlan(component, obj)
    for field, piece in PIECES.items():
        target = _Target(component, field, JSON_TYPES[field], PIECE_TYPES[field])
        target.stage(plan, {name: getattr(spec, piece) for name, spec in specs.items()})
    return plan.commit()
