"""The jq texts of a Karta, as types of their own: every one of them is found without naming its field again.

Without pydantic, so that a program that imports the library loads it when it reads its first Karta.
"""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from karta_interpreter.base.k8s.values import Object
from karta_interpreter.languages.jq import Location, Query

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema


class Expression(str):
    """The text of an expression, about the workload where it is no `PodQuery`."""

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
    """An expression about a pod. No request of Karmada asks about pods, so it is compiled when it is first asked.

    >>> PodQuery(".metadata.name").query.evaluate({"metadata": {"name": "web-0"}})
    ['web-0']
    """

    __slots__ = ()

    @property
    def query(self) -> Query:
        """The expression, ready to use; raises QueryError where `Query.compile` does."""
        return _compiled(self.text)


# A program asks a few Kartas about many pods. All of the catalogue's expressions about pods are 59.
_compiled = lru_cache(maxsize=1024)(Query.compile)


def count_places(query: Query, value: Object) -> list[Location | None]:
    """Return where each count can be written: None for a computed one, and in the status, which belongs to members.

    >>> [place and place.path for place in count_places(Query.compile(".spec.n, .status.n, 1"), {})]
    [('spec', 'n'), None, None]
    """
    return [place if place and place.path[:1] != ("status",) else None for place in query.locate_each(value)]
