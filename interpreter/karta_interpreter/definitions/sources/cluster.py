"""The Kartas of a cluster, kept in step with its API server (`karta_interpreter.definitions.sources.informer`).

A new or changed Karta is served as soon as the watch has it, and compiled only if its spec or annotations differ. A
broken Karta is quarantined, and its last good version stays. If a Karta is deleted or was never good, folders and
catalogue serve its kind. If two Kartas define one kind, the older is served, and the other is a conflict and not
Ready. Kartas stay while the API server is away. Kartas for which the budget has no room are quarantined, the newest
first.

A server writes conditions to them, as far as that is allowed. Types and reasons of the conditions, and the rule of
``Ready``, match Karta's own controller, so either may write them.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus

from karta_interpreter.base.errors import ClusterError
from karta_interpreter.base.findings import Finding, Severity, count, escaped
from karta_interpreter.base.k8s import GVK, JSON, Object, by_kind, edit, generation, objects_in
from karta_interpreter.definitions.karta import kartas_path, name_of
from karta_interpreter.definitions.karta.loading import Loaded
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.definitions.sources.background import AsyncAction, keep_running
from karta_interpreter.definitions.sources.budget import Budget, weight_of
from karta_interpreter.definitions.sources.cluster_karta import ClusterKarta
from karta_interpreter.definitions.sources.informer import Informer, Pace
from karta_interpreter.definitions.sources.reference_cache import ReferenceCache
from karta_interpreter.definitions.sources.refusal import Refusal
from karta_interpreter.definitions.sources.snapshot import Quarantined, ServedDefinition, SourceDefinitions

ORIGIN = "cluster"

_logger = logging.getLogger(__name__)


class Cluster:
    """The Kartas of a cluster as the first layer of a `Store`, and the objects that definitions refer to.

    Only a server ``reports``: it writes the status of the Kartas, answers calls and looks up the objects for them. With
    ``secrets`` definitions may refer to Secrets.
    """

    def __init__(
        self,
        api: ApiServer,
        *,
        pace: Pace | None = None,
        reports: bool = True,
        budget: Budget | None = None,
        secrets: bool = False,
    ) -> None:
        self._pace = pace = pace or Pace()
        self.budget = budget or Budget()
        self._collection = Informer(api, kartas_path(), dict, pace, self.budget, weight_of)
        self._reporter = StatusWriter(api, pace) if reports else None
        self.referenced = ReferenceCache(api, pace, self.budget.most, secrets=secrets)
        self._moved, self._loaded = asyncio.Event(), asyncio.Event()
        self._is_loading = False
        self.kartas: Mapping[str, ClusterKarta] = {}
        """All Kartas as they were last seen, by their sources. The mapping is replaced, never changed."""
        self.layer = SourceDefinitions()
        """The definitions of the cluster, the oldest Karta first."""
        self.synced = False
        """Whether `layer` was published with all Kartas that may be read."""

    @property
    def stale_for(self) -> float:
        """The seconds since the Kartas were known to match the API server.

        Without failures it stays below `Pace.watch`: a watch without events is silent until its end.
        """
        return self._collection.stale_for

    @property
    def in_step(self) -> bool:
        """Whether `layer` has all Kartas as the API server has them, as far as it lets anybody read them."""
        return self.synced and self._collection.in_step and not self._moved.is_set() and not self._is_loading

    async def read_again(self) -> None:
        """Read all Kartas of the API server, and wait until they are in `layer`. Raise ClusterError."""
        await self._collection.read()
        loaded = self._loaded
        self._moved.set()
        await loaded.wait()

    async def run(self, changed: AsyncAction) -> None:
        """Keep in step until cancelled. ``changed`` is awaited after each change of `layer`."""
        moved, settled = self._moved, asyncio.Event()
        works: list[AsyncAction] = [
            partial(self._collection.follow, moved.set),
            partial(self._load, moved, settled, changed),
        ]
        if self._reporter:
            works += [self.referenced.run, partial(self._reporter.run, self._oldest_first, settled)]
        async with asyncio.TaskGroup() as group:
            for work in works:
                group.create_task(keep_running("reads the Kartas of the cluster", work, self._pace.longest))

    def has_room(self, obj: Object) -> bool:
        """Return whether the budget has room for a Karta."""
        return self.budget.has_room((self._collection.path, name_of(obj)), weight_of(obj))

    def take(self, obj: Object) -> None:
        """Take a Karta from an answer of the API server, before the watch reports it."""
        self._collection.put(obj)
        self._moved.set()

    async def _load(self, moved: asyncio.Event, settled: asyncio.Event, changed: AsyncAction) -> None:
        while True:
            await moved.wait()
            moved.clear()
            loaded, self._loaded = self._loaded, asyncio.Event()
            self._is_loading = True
            try:
                await self._load_once(changed)
            except BaseException:
                moved.set()  # it is tried again
                raise
            finally:
                self._is_loading = False
                loaded.set()
            settled.set()

    async def _load_once(self, changed: AsyncAction) -> None:
        # Before reading: a collection that becomes known meanwhile sets `moved` again.
        is_known = self._collection.known
        objects, left_out = {**self._collection.objects}, {**self._collection.left_out}
        # Compiling takes milliseconds, and would block all calls.
        self.kartas = await asyncio.to_thread(self._read, objects, left_out)
        layer = await asyncio.to_thread(self._new_layer)
        if layer != self.layer:
            self.layer = layer
            await changed()
        self.synced = self.synced or is_known

    def _read(self, objects: Mapping[str, Object], left_out: Mapping[str, Object]) -> Mapping[str, ClusterKarta]:
        read, collection = {}, self._collection
        for name, obj in {**objects, **left_out}.items():
            source = f"{collection.name}/{name}"
            before = self.kartas.get(source)
            if name not in left_out:
                read[source] = before.seen_again(obj) if before else ClusterKarta.first_seen(source, obj)
                if before and obj is not before.obj and not read[source].last_good:
                    self.budget.settle((collection.path, name), weight_of(obj))
            elif before and name in objects:
                read[source] = before.without_room(obj, self.budget.reason)
            else:
                read[source] = ClusterKarta.left_out(source, obj, self.budget.reason)
        return read

    def _oldest_first(self) -> list[ClusterKarta]:
        return sorted(self.kartas.values(), key=lambda karta: karta.age)

    def _new_layer(self) -> SourceDefinitions:
        layer, problem = layer_of_kartas(self._oldest_first()), self._collection.problem
        if problem is None:
            return layer
        name = self._collection.name
        findings = (Finding(Severity.ERROR, "cluster", (), str(problem), source=name),)
        outdated = Quarantined(name, findings, serving_last_good=bool(self._collection.objects))
        return SourceDefinitions(layer.entries, (outdated, *layer.quarantined))


def layer_of_kartas(kartas: Iterable[ClusterKarta]) -> SourceDefinitions:
    """Return the definitions of Kartas, in their order, and those that are broken."""
    entries, quarantined = list[ServedDefinition](), list[Quarantined]()
    for karta in kartas:
        served = karta.served.versions if karta.served else ()
        entries += [ServedDefinition(version.definition, ORIGIN) for version in served if version.definition]
        serving_last_good = karta.last_good is not None
        quarantined += [
            Quarantined(loaded.source, loaded.findings, loaded.name, loaded.gvk, serving_last_good=serving_last_good)
            for loaded in karta.loaded.versions
            if not loaded.definition
        ]
    return SourceDefinitions(tuple(entries), tuple(quarantined))


VALIDATED = "Validated"
CRD_EXISTS = "CRDExists"
READY = "Ready"

_TYPES = (VALIDATED, CRD_EXISTS, READY)
_REPORTED = ("status", "reason", "message", "observedGeneration")
# The limit of ``message`` in metav1.Condition.
_MAX_MESSAGE = 32_768

_TRY_AGAIN = (HTTPStatus.UNAUTHORIZED, HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS)


_Identity = tuple[str, JSON]


class StatusWriter:
    """Reports the state of each Karta in its conditions, once for each verdict.

    If another writer replaces a report, the replacement stays: two writers that disagree would write without end. If
    writing stays forbidden, it is tried again after a while, with one line in the log. A failed report is tried again
    after a pause that grows with each failure in a row. Meanwhile the other Kartas get their reports.
    """

    def __init__(self, api: ApiServer, pace: Pace) -> None:
        self._api = api
        self._pace = pace
        self._reported: dict[_Identity, tuple[JSON, ...]] = {}
        self._forbidden_until = 0.0
        self._refusal = Refusal()
        self._failed: dict[_Identity, tuple[int, float]] = {}
        """The failures in a row of a Karta, and the time before which it is not tried again."""

    async def run(self, kartas: Callable[[], Sequence[ClusterKarta]], changed: asyncio.Event) -> None:
        """Report on the Kartas, oldest first, when they have changed and every now and then, until cancelled."""
        while True:
            changed.clear()
            try:
                await self.report(kartas())
            except ClusterError as error:
                _logger.debug("conditions could not be reported: %s", error)
            with suppress(TimeoutError):
                async with asyncio.timeout(self._pace.report):
                    await changed.wait()

    async def report(self, kartas: Sequence[ClusterKarta]) -> None:
        """Report once on the Kartas, oldest first. Raise ClusterError if the API server goes away meanwhile."""
        present = {_identity(karta) for karta in kartas}
        self._reported = {identity: report for identity, report in self._reported.items() if identity in present}
        self._failed = {identity: failed for identity, failed in self._failed.items() if identity in present}
        if time.monotonic() < self._forbidden_until:
            return
        versions = {karta.loaded.gvk.api_version for karta in kartas if karta.loaded.gvk}
        kinds = {api_version: await self._served_kinds(api_version) for api_version in sorted(versions)}
        used: dict[GVK, ClusterKarta] = {}
        for karta in kartas:
            gvk = karta.loaded.gvk
            # The oldest comes first, as in `Cluster`, so the first of a kind is in use.
            served_versions = karta.served.versions if karta.served else ()
            winners = [used.setdefault(version.gvk, karta) for version in served_versions if version.gvk]
            winner = next((other for other in winners if other is not karta), karta)
            served = kinds[gvk.api_version] if gvk else frozenset[str]()
            if served is not None:
                hidden_by = winner.source if winner is not karta else ""
                await self._report_unless_early(karta, gvk is not None and gvk.kind in served, hidden_by)

    async def _report_unless_early(self, karta: ClusterKarta, crd_served: bool, hidden_by: str) -> None:
        """Report on a Karta unless it is too early after a failure. Raise only a failure of the whole server."""
        identity = _identity(karta)
        failures, retry_at = self._failed.get(identity, (0, 0.0))
        if time.monotonic() < max(retry_at, self._forbidden_until):
            return
        try:
            await self._write_conditions(karta, crd_served, hidden_by)
        except ClusterError as error:
            self._failed[identity] = failures + 1, time.monotonic() + self._pace.pause(failures + 1)
            if error.status < HTTPStatus.INTERNAL_SERVER_ERROR:
                raise
            _logger.debug("conditions of %s not written: %s", karta.source, error)
        else:
            self._failed.pop(identity, None)

    async def _write_conditions(self, karta: ClusterKarta, crd_served: bool, hidden_by: str) -> None:
        now = datetime.now(UTC)
        before = edit.get(karta.obj, ("status", "conditions"))
        after = conditions_of(karta.loaded, crd_served, generation(karta.obj), now, before, hidden_by=hidden_by)
        report = report_of(after)
        if report in (report_of(before), self._reported.get(_identity(karta))):
            return
        try:
            await self._api.patch_status(kartas_path(name_of(karta.obj)), {"status": {"conditions": after}})
        except ClusterError as error:
            if error.status == HTTPStatus.FORBIDDEN:
                self._note_forbidden(error)
                return
            # Other client errors are final: the object is deleted, or has another version.
            if not 400 <= error.status < 500 or error.status in _TRY_AGAIN:  # noqa: PLR2004 - client errors of HTTP
                raise
            _logger.debug("a report on a Karta is not written: %s", error)
        self._refusal = Refusal()
        self._reported[_identity(karta)] = report

    def _note_forbidden(self, error: ClusterError) -> None:
        now = time.monotonic()
        self._refusal = self._refusal.after(error.status, now)
        lasts = self._refusal.lasts(self._pace.absent)
        self._forbidden_until = now + (self._pace.forbidden if lasts else self._pace.report)
        if lasts:
            _logger.warning("a report on a Karta cannot be written: %s", error)

    async def _served_kinds(self, api_version: str) -> frozenset[str] | None:
        """Return the kinds of an apiVersion that the server has, built in or by a CRD. None if they are unknown."""
        try:
            resources = await self._api.resources(api_version)
        except ClusterError as error:
            # None without an answer, too: the server of an aggregated API may be away while all others answer.
            return frozenset() if error.status == HTTPStatus.NOT_FOUND else None
        return frozenset(by_kind(resources))


def _identity(karta: ClusterKarta) -> _Identity:
    return karta.source, edit.get(karta.obj, ("metadata", "uid"))


def conditions_of(
    loaded: Loaded, crd_served: bool, generation: int | None, now: datetime, previous: JSON, *, hidden_by: str = ""
) -> list[Object]:
    """Return the conditions of a Karta: unchanged ones of other types, then `Validated`, `CRDExists` and `Ready`.

    ``previous`` are the present ``status.conditions``. Their ``lastTransitionTime`` stays while the status does.
    ``hidden_by`` names the Karta that is used instead, if an older one defines the same kind.
    """
    by_type = _by_type(previous)
    conditions = [condition for kind, condition in by_type.items() if kind not in _TYPES]
    for kind, holds, reason, message in _verdicts(loaded, crd_served, hidden_by):
        status, previous_condition = "True" if holds else "False", by_type.get(kind, {})
        since = previous_condition.get("lastTransitionTime") if previous_condition.get("status") == status else None
        text = escaped(message)
        condition = {
            "type": kind,
            "status": status,
            "reason": reason,
            "message": text if len(text) <= _MAX_MESSAGE else f"{text[: _MAX_MESSAGE - 2]} …",
            "lastTransitionTime": since or now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        conditions.append(condition if generation is None else {**condition, "observedGeneration": generation})
    return conditions


def report_of(conditions: JSON) -> tuple[JSON, ...]:
    """Return our conditions without their times, to compare them."""
    by_type = _by_type(conditions)
    return tuple(by_type.get(kind, {}).get(field) for kind in _TYPES for field in _REPORTED)


def _verdicts(loaded: Loaded, crd_served: bool, hidden_by: str) -> Iterator[tuple[str, bool, str, str]]:
    valid, gvk = loaded.definition is not None, loaded.gvk
    errors_first = sorted(loaded.findings, key=lambda finding: finding.severity is not Severity.ERROR)
    findings = "; ".join(map(str, errors_first))
    if valid:
        warnings = f" with {count(len(errors_first), 'warning')}: {findings}" if findings else ""
        yield VALIDATED, True, "ValidationSucceeded", f"the definition is valid{warnings}"
    else:
        yield VALIDATED, False, "ValidationFailed", findings
    if crd_served:
        yield CRD_EXISTS, True, "CRDFound", f"{gvk} is served"
    else:
        missing = f"{gvk} is not served here: install its CRD with that version"
        yield CRD_EXISTS, False, "CRDNotFound", missing if gvk else "the definition does not name a kind"
    if valid and crd_served and not hidden_by:
        yield READY, True, "Ready", "the definition is in use"
    else:
        hidden = f"{hidden_by} is older and defines the same kind: delete one of the two"
        both = f"{VALIDATED} and {CRD_EXISTS} must both be True"
        yield READY, False, "NotReady", hidden if valid and crd_served else both


def _by_type(conditions: JSON) -> Mapping[str, Object]:
    return {str(condition["type"]): condition for condition in objects_in(conditions) if "type" in condition}
