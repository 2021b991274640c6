"""Suspending and resuming: the writes that a `suspendDefinition` lists.

Source: `ApplySuspendActions` in `pkg/resource/accessor.go` of the Karta project.
"""

from collections.abc import Iterable
from typing import Literal

from karta_interpreter.errors import PathNotWritableError, QueryError
from karta_interpreter.jq.inprocess.values import equal
from karta_interpreter.k8s.values import Object
from karta_interpreter.karta.definition import Component
from karta_interpreter.karta.evaluation import query_failure

Direction = Literal["suspend", "resume"]


def apply_actions(components: Iterable[Component], direction: Direction, obj: Object) -> Object:
    """The object after the actions of the components, in sequence; the same where that changes nothing.

    Raises PathNotWritableError for an action whose path names no place.
    """
    changed = obj
    for component in components:
        actions = component.suspend if direction == "suspend" else component.resume
        for index, action in enumerate(actions):
            try:
                changed = action.path.assign(changed, action.value)
            except QueryError as err:
                field = f"{direction}Actions[{index}].path"
                raise PathNotWritableError(str(query_failure(component, field, action.path, err))) from err
    return obj if equal(obj, changed) else changed
