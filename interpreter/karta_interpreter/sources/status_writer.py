"""Writing conditions and events to the Kartas of a cluster, as far as that is allowed."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from http import HTTPStatus

from karta_interpreter.errors import ClusterError
from karta_interpreter.k8s import edit
from karta_interpreter.k8s.fields import generation
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.sources.api_server import ApiServer
from karta_interpreter.sources.cluster_karta import ClusterKarta
from karta_interpreter.sources.informer import Pace
from karta_interpreter.sources.status_conditions import conditions_of, events_of, report_of, same_conditions

_EVENTS = "/api/v1/namespaces/default/events"
_CONDITIONS = ("status", "conditions")

_logger = logging.getLogger(__name__)

_TRY_AGAIN = (HTTPStatus.UNAUTHORIZED, HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS)

_Identity = tuple[str, JSON]
_Write = Callable[[str, Object], Awaitable[Object]]


class StatusWriter:
    """Reports the state of each Karta in its conditions, once for each verdict.

    What another writer puts over a report stays: two writers that disagree would otherwise write without end. What
    is forbidden is given up for a while, with one line in the log. Other failures are made good at the next look.
    """

    def __init__(self, api: ApiServer, pace: Pace) -> None:
        self._api = api
        self._pace = pace
        self._told: dict[_Identity, tuple[JSON, ...]] = {}
        self._forbidden: dict[str, float] = {}

    async def run(self, kartas: Callable[[], Sequence[ClusterKarta]], changed: asyncio.Event) -> None:
        """Report on the Kartas, oldest first, when they have changed and every now and then, until cancelled."""
        while True:
            changed.clear()
            try:
                await self.report(kartas())
            except ClusterError as error:
                _logger.debug("conditions could not be reported: %s", error)
            try:
                async with asyncio.timeout(self._pace.report):
                    await changed.wait()
            except TimeoutError:
                continue

    async def report(self, kartas: Sequence[ClusterKarta]) -> None:
        """Report once on the Kartas, oldest first; raises ClusterError when the API server is away."""
        present = {_identity(karta) for karta in kartas}
        self._told = {identity: report for identity, report in self._told.items() if identity in present}
        if not kartas or not self._is_allowed("status"):
            return
        kinds = await self._served_kinds({karta.loaded.gvk.api_version for karta in kartas if karta.loaded.gvk})
        oldest = _oldest(kartas)
        for karta in kartas:
            gvk = karta.loaded.gvk
            served = kinds[gvk.api_version] if gvk else frozenset[str]()
            if served is None:
                continue
            winner = oldest.get(karta.served.gvk, karta) if karta.served and karta.served.gvk else karta
            hidden_by = winner.source if winner is not karta else ""
            await self._tell(karta, gvk is not None and gvk.kind in served, hidden_by)

    async def _tell(self, karta: ClusterKarta, crd_served: bool, hidden_by: str) -> None:
        now = datetime.now(UTC)
        before = edit.get(karta.obj, _CONDITIONS)
        after = conditions_of(karta.loaded, crd_served, generation(karta.obj), now, before, hidden_by=hidden_by)
        report = report_of(after)
        if same_conditions(before, after) or self._told.get(_identity(karta)) == report:
            return
        if not await self._write("status", self._api.patch_status, karta.path, {"status": {"conditions": after}}):
            return
        self._told[_identity(karta)] = report
        for event in events_of(karta.obj, before, after, now):
            await self._write("events", self._api.create, _EVENTS, event)

    async def _write(self, what: str, write: _Write, path: str, body: Object) -> bool:
        """Write if that is allowed; whether there is no more to do."""
        if not self._is_allowed(what):
            return False
        try:
            await write(path, body)
        except ClusterError as error:
            if error.status == HTTPStatus.FORBIDDEN:
                self._forbidden[what] = time.monotonic() + self._pace.forbidden
                _logger.warning("%s of Kartas cannot be written: %s", what, error)
                return False
            if not _is_final(error):
                raise
            _logger.debug("%s of %s not written: %s", what, path, error)
        return True

    def _is_allowed(self, what: str) -> bool:
        return time.monotonic() >= self._forbidden.get(what, 0.0)

    async def _served_kinds(self, api_versions: Iterable[str]) -> Mapping[str, frozenset[str] | None]:
        """The kinds of each apiVersion that the server has, built in or by a CRD; None where they are unknown."""
        return {api_version: await self._kinds_of(api_version) for api_version in sorted(api_versions)}

    async def _kinds_of(self, api_version: str) -> frozenset[str] | None:
        try:
            answer = await self._api.get(f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}")
        except ClusterError as error:
            if not error.status:
                raise
            return frozenset() if error.status == HTTPStatus.NOT_FOUND else None
        resources = [item for item in answer.get("resources") or () if isinstance(item, dict)]
        return frozenset(str(item.get("kind")) for item in resources if "/" not in str(item.get("name")))


def _identity(karta: ClusterKarta) -> _Identity:
    return karta.path, edit.get(karta.obj, ("metadata", "uid"))


def _oldest(kartas: Iterable[ClusterKarta]) -> Mapping[GVK, ClusterKarta]:
    """The Karta that is used for each kind."""
    oldest: dict[GVK, ClusterKarta] = {}
    for karta in kartas:
        if karta.served and karta.served.gvk:
            oldest.setdefault(karta.served.gvk, karta)
    return oldest


def _is_final(error: ClusterError) -> bool:
    """Whether the same request would be refused again: the object is gone, or there is the same event already."""
    return HTTPStatus.BAD_REQUEST <= error.status < HTTPStatus.INTERNAL_SERVER_ERROR and error.status not in _TRY_AGAIN
