"""The shape of values that anybody may have written: what an API server or a server of ours makes sure of."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final, TypeAlias

from karta_interpreter.base.k8s.edit import get
from karta_interpreter.base.k8s.values import JSON

Shape: TypeAlias = Any
"""A type, the fields of an object (``...`` for any field), a list of one shape, or what must be there in a tuple."""
TIMES: Final = ("creationTimestamp", "deletionTimestamp", "time", "lastTransitionTime")


def check_shape(what: str, value: JSON, shape: Shape) -> None:
    """Raise ValueError, with the place in ``what``, for a value of another shape."""
    pending: list[tuple[str, JSON, Shape]] = [(what, value, (shape,))]
    while pending:
        path, value, shape = pending.pop()
        if isinstance(shape, tuple):
            if value is None:
                raise ValueError(f"{path} is missing")
            (shape,) = shape
        is_object, is_list = isinstance(shape, dict), isinstance(shape, list)
        if value is not None and not isinstance(value, dict if is_object else list if is_list else shape):
            raise ValueError(f"{path} has another type than Kubernetes gives it")
        if (
            isinstance(value, str)
            and shape is str
            and path.endswith(TIMES)
            and datetime.fromisoformat(value).tzinfo is None
        ):
            raise ValueError(f"{path} has no time zone")
        if isinstance(shape, dict):
            fields: dict[Any, Shape] = shape
            names: Iterable[str] = value or () if ... in fields else fields
            pending += [(f"{path}.{name}", get(value, (name,)), fields.get(name, fields.get(...))) for name in names]
        elif isinstance(shape, list):
            pending += [(f"{path}[{index}]", element, shape[0]) for index, element in enumerate(value or ())]
