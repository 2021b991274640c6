"""A quick look at a value: whether it surely fits the Go type that it is to be read as.

To read a pod template field by field takes longer than all else that is done with it. Most are simply what Kubernetes
writes, which msgspec sees in half of the time. What it does not take may fit as well, in ways that only `decode`
knows: a field in another case, one that is unknown, a time, a number beyond those that a float counts.
"""

from collections.abc import Callable
from functools import cache, lru_cache
from keyword import iskeyword
from typing import Annotated, Any, Final, TypeAlias, final

import msgspec

from karta_interpreter.errors import QuantityError
from karta_interpreter.k8s.values import JSON
from karta_interpreter.lua.typed.declarations import declarations
from karta_interpreter.lua.typed.numbers import EXACT
from karta_interpreter.lua.typed.quantities import read_quantity

_Type: TypeAlias = Any
"""A type as msgspec takes it."""


@final
class _Amount:
    """A quantity, of which nothing is kept."""


_INT32: Final = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]
_FILLED: Final = msgspec.Meta(min_length=1)
_SCALARS: Final[dict[str, _Type]] = {
    "string": str,
    "bool": bool,
    "int32": _INT32,
    "int64": Annotated[int, msgspec.Meta(ge=-EXACT, le=EXACT)],
    "IntOrString": _INT32 | str,
    "Quantity": _Amount,
    "Time": None,
    "any": Any,
}
_UNFIT: Final = (msgspec.ValidationError, QuantityError)


def fitter(go_type: str) -> Callable[[JSON], bool]:
    """What says whether `decode` takes a value of a struct nearly as it is; when it says no it may still do so.

    What `decode` changes is that it leaves out fields that are empty objects, and writes amounts as Go does.

    >>> fits = fitter("Container")
    >>> [fits({"name": "a", "resources": {"limits": {"cpu": cpu}}}) for cpu in ("1.5", "much")]
    [True, False]
    """

    def fits(value: JSON) -> bool:
        try:
            msgspec.convert(value, _struct(go_type), dec_hook=_amount)  # type: ignore[arg-type]  # takes what can be hashed
        except _UNFIT:
            return False
        return True

    return fits


@lru_cache(maxsize=4096, typed=True)
def _amount(kind: type[_Amount], value: JSON) -> _Amount:
    if type(value) is int and -EXACT <= value <= EXACT:
        return kind()
    if type(value) is not str:
        raise QuantityError("it is not one of the numbers that are amounts")
    read_quantity(value)
    return kind()


def _type(go_type: str) -> _Type:
    """A type whose lists and maps are not empty: `decode` would leave them out."""
    pointed = go_type.removeprefix("*")
    if pointed in _SCALARS:
        return _SCALARS[pointed]
    if pointed.startswith("[]"):
        return Annotated[list[_type(pointed.removeprefix("[]"))], _FILLED]  # type: ignore[misc]  # made at run time
    if pointed.startswith("map[string]"):
        return Annotated[dict[str, _type(pointed.removeprefix("map[string]"))], _FILLED]  # type: ignore[misc]
    return _struct(pointed)


@cache
def _struct(name: str) -> type[msgspec.Struct]:
    """A struct of the fields that have to be there, and those that may be."""
    fields = declarations()[name]
    names = {f"{field.name}_" if iskeyword(field.name) else field.name: field for field in fields}
    is_checked = any(field.always for field in fields) or name not in _elements()
    return msgspec.defstruct(
        name,
        [(own, _type(field.type)) if field.always else (own, _type(field.type), None) for own, field in names.items()],
        rename={own: field.name for own, field in names.items()},
        namespace={} if is_checked else {"__post_init__": _refuse_empty},
        kw_only=True,
        forbid_unknown_fields=True,
        gc=False,
    )


@cache
def _elements() -> frozenset[str]:
    """The types of elements of lists, from which `decode` leaves out those that are empty."""
    types = (field.type for fields in declarations().values() for field in fields)
    return frozenset(go_type.removeprefix("[]") for go_type in types if go_type.startswith("[]"))


def _refuse_empty(struct: msgspec.Struct) -> None:
    if not any(msgspec.structs.astuple(struct)):
        raise ValueError("it is empty")
