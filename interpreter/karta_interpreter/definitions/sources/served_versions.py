"""Which of several API versions of a kind an API server serves, known before anyone asks."""

import asyncio
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Final

from karta_interpreter.base.errors import ClusterError, QueryReferenceError
from karta_interpreter.base.k8s import GVK, by_kind, listed_versions
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.definitions.sources.informer import Pace

_LASTING: Final = (HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND)


class ServedVersions:
    """The kinds of some API versions on an API server. It is asked about them again and again."""

    def __init__(self, api: ApiServer, pace: Pace) -> None:
        self._api = api
        self._pace = pace
        self._wanted: frozenset[str] = frozenset()
        self._changed = asyncio.Event()
        self._kinds: Mapping[str, frozenset[str]] = {}
        """The kinds that the server has in an API version, none if it lacks the version. Replaced, never changed."""

    def want(self, kinds: Iterable[GVK]) -> None:
        """Ask about these kinds from now on."""
        wanted = frozenset(gvk.api_version for gvk in kinds)
        if wanted != self._wanted:
            self._wanted = wanted
            self._changed.set()

    def first(self, kinds: Sequence[GVK]) -> GVK:
        """Return the first of some kinds that the server has, the first of all if it has none of them.

        Raises QueryReferenceError as long as the server has not been asked.
        """
        served = self._kinds
        for gvk in kinds:
            if gvk.api_version not in served:
                raise QueryReferenceError(f"it is not known yet whether the API server serves {gvk}")
            if gvk.kind in served[gvk.api_version]:
                return gvk
        return kinds[0]

    async def run(self) -> None:
        """Keep in step until cancelled."""
        failures = 0
        while True:
            self._changed.clear()
            failures = 0 if await self._ask() else failures + 1
            try:
                async with asyncio.timeout(self._pace.pause(failures) if failures else self._pace.absent):
                    await self._changed.wait()
            except TimeoutError:
                continue

    async def _ask(self) -> bool:
        """Ask about all versions once, and return whether each has an answer. One without keeps its last one."""
        answers = {name: kinds for name, kinds in self._kinds.items() if name in self._wanted}
        # One request tells which versions are not there at all. So the server bounds the number of others.
        listed = await self._asked(self._listed()) if self._wanted else frozenset[str]()
        if listed is None:
            return False
        for api_version in sorted(self._wanted):
            kinds = await self._asked(self._served(api_version)) if api_version in listed else frozenset[str]()
            if kinds is not None:
                answers[api_version] = kinds
        self._kinds = answers
        return answers.keys() == self._wanted

    async def _listed(self) -> frozenset[str]:
        return frozenset(listed_versions(await self._api.get("/apis")))

    async def _served(self, api_version: str) -> frozenset[str]:
        return frozenset(by_kind(await self._api.resources(api_version)))

    async def _asked(self, names: Awaitable[frozenset[str]]) -> frozenset[str] | None:
        """Return the names, none if the server lacks or forbids them, and None if it fails."""
        try:
            return await names
        except ClusterError as error:
            return frozenset() if error.status in _LASTING else None
