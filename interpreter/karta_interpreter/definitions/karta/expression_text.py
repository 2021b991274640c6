"""The jq texts of a Karta, as separate types: every text is found without naming its field again.

This module does not import pydantic, so that a program with this library loads pydantic with its first Karta.
"""

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from karta_interpreter.base.k8s import Object
from karta_interpreter.languages.jq import Location, Query

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema


class Expression(str):
    """The text of an expression, about the workload unless it is a `PodQuery` or an `ObjectQuery`."""

    __slots__ = ()

    @property
    def text(self) -> str:
        """The same as plain text."""
        return str(self)

    @classmethod
    def __get_pydantic_core_schema__(cls, _: Any, handler: "GetCoreSchemaHandler") -> "CoreSchema":  # noqa: ANN401, D105, RUF100, PLW3201 - pydantic's signature
        from pydantic_core import core_schema  # noqa: PLC0415 - loaded where a model is built, which calls this

        return core_schema.no_info_after_validator_function(cls, handler(str))


class PodQuery(Expression):
    """An expression about a pod. No request of Karmada asks about pods, so it is compiled on first use.

    >>> PodQuery(".metadata.name").query.evaluate({"metadata": {"name": "web-0"}})
    ['web-0']
    """

    __slots__ = ()

    @property
    def query(self) -> Query:
        """The expression, ready to use. Raises QueryError if `Query.compile` does."""
        return _compiled(self.text)


class ObjectQuery(Expression):
    """An expression about an object that a workload refers to."""

    __slots__ = ()


# A program asks a few Kartas about many pods. The catalogue has 59 expressions about pods.
_compiled = lru_cache(maxsize=1024)(Query.compile)


def count_places(query: Query, value: Object) -> list[Location | None]:
    """Return where each count can be written. None for a computed count, and in the status, which members own.

    >>> [place and place.path for place in count_places(Query.compile(".spec.n, .status.n, 1"), {})]
    [('spec', 'n'), None, None]
    """
    places = list[Location | None]()
    for location in query.locate_each(value):
        is_written = location is not None and location.path[:1] != ("status",)
        places.append(location if is_written else None)
    return places


def ids_meant(text: str) -> str:
    """Return the ids of the instances that an expression may give: the names of its entries.

    A longer path than 100 characters is not repeated: it is in the message of an answer.

    >>> ids_meant(".spec.groups[].template"), ids_meant(".spec.a[].b[] | .replicas // 1"), ids_meant("[.a, .b][]")
    ('.spec.groups[].name', '.spec.a[].b[].name', '.spec.LIST[].name')
    >>> ids_meant(f".{'long' * 100}[].template")
    '.spec.LIST[].name'
    """
    entries = re.match(r"\.[\w.\[\]]{0,98}\[\]", text)
    return f"{entries[0] if entries else '.spec.LIST[]'}.name"
