"""How long an API server has refused a collection, which decides whether the refusal counts.

A server that starts may not know its rules or its kinds yet: it forbids (403) or misses (404) for a moment what it has
a second later. So a refusal is believed once it has lasted. Informers, answers and readiness ask the same value.
"""

from http import HTTPStatus
from math import inf
from typing import Final, Self

from msgspec import Struct

REFUSALS: Final = frozenset({HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND})


class Refusal(Struct, frozen=True):
    """The last answer of a server about a collection, by its status: 0 for a list.

    It was the same from ``since`` until ``until``, in seconds.

    >>> refusal = Refusal().after(403, 10.0)
    >>> refusal.lasts(30), refusal.after(403, 41.0).lasts(30), refusal.after(404, 41.0).lasts(30)
    (False, True, False)
    """

    status: int = 0
    since: float = 0.0
    until: float = 0.0

    def after(self, status: int, at: float) -> Self:
        """Return the state after another answer."""
        return type(self)(status, self.since if status == self.status else at, at)

    def lasts(self, seconds: float) -> bool:
        """Return whether nothing but this refusal was heard for so long."""
        return self.status in REFUSALS and self.until - self.since >= seconds

    def left(self, seconds: float) -> float:
        """Return the seconds after which to ask again, so that a refusal is seen to last as soon as it does."""
        return inf if self.status not in REFUSALS or self.lasts(seconds) else seconds - (self.until - self.since)
