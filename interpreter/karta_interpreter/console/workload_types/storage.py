"""What a place that stores workload types has to do; `folder_storage` and `cluster_storage` are two such places."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from karta_interpreter.console.workload_types.records import Record, StoredType


class Storage(Protocol):
    """Stores types, and knows the Kartas of others at the same place.

    Reading and writing raise ApiError: 503 where the place cannot be used, 409 for a Karta of another owner, 412 when
    another writer was faster.
    """

    def sources(self) -> Mapping[Any, Any]:
        """What holds Kartas as it was last seen; the mapping, and each value, is replaced when it changes."""
        ...

    def records(self, source: Any) -> tuple[Record, ...]:  # noqa: ANN401 - a value of `sources`
        """The Kartas of one of the sources."""
        ...

    def exclusive(self) -> AbstractAsyncContextManager[object]:
        """A block in which no other writer that stores in the same way changes anything."""
        ...

    async def read(self, group: str, kind: str) -> StoredType | None:
        """A type as it is stored now, None where there is none; raises ApiError for one of another owner."""
        ...

    async def write(self, wanted: StoredType, present: StoredType | None) -> StoredType:
        """Store a type in place of what was read, and return it as it is stored.

        A crash leaves each version as it was, or as it is wanted.
        """
        ...

    async def delete(self, present: StoredType) -> None:
        """Delete a type that was read."""
        ...
