"""The ResourceInterpreterWebhookConfiguration on a control plane, kept in step with the definitions in use."""

import asyncio
import base64
import logging
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from http import HTTPStatus

from karta_interpreter import __version__
from karta_interpreter.base.errors import ClusterError
from karta_interpreter.base.findings import count, listed
from karta_interpreter.base.k8s import GVK, JSON, Object, edit, request_path
from karta_interpreter.base.karmada import GROUP, OTHER_HALF, VERSION
from karta_interpreter.base.rate_limit import RateLimit
from karta_interpreter.definitions.sources import Snapshot, Store, keep_running
from karta_interpreter.definitions.sources.api_server import CRDS, ApiServer, existing
from karta_interpreter.definitions.sources.background import AsyncAction
from karta_interpreter.definitions.sources.informer import Informer, Pace
from karta_interpreter.engine.registered.operations import served_kinds
from karta_interpreter.engine.registered.pairs import Agreement, Others
from karta_interpreter.languages.lua.script import COUNTS_AGREE
from karta_interpreter.webhook.registration.admission_ca import AdmissionCA
from karta_interpreter.webhook.registration.configuration import (
    NAME,
    Endpoint,
    left_out,
    registered_operations,
    webhook_configuration,
)
from karta_interpreter.webhook.registration.conflicts import Messages, rival
from karta_interpreter.webhook.registration.other_counts import OtherCounts
from karta_interpreter.webhook.settings import option

_RESOURCE = (GROUP, VERSION, "resourceinterpreterwebhookconfigurations")
CONFIGURATIONS = request_path(*_RESOURCE)


async def unregister(api: ApiServer, name: str = NAME) -> None:
    """Delete a configuration, unless it is gone. Raises ClusterError."""
    await existing(api.delete(request_path(*_RESOURCE, name=name)))


async def registrations(api: ApiServer) -> list[str]:
    """Return the names of all configurations. Raises ClusterError, also if the server is no Karmada."""
    return sorted(str(edit.get(obj, ("metadata", "name"))) for obj in await api.list(CONFIGURATIONS))


_logger = logging.getLogger(__name__)
_PACE = Pace()
_DEBOUNCE = 0.3
"""Seconds in which wake-ups are collected, because a folder of definitions is read in several steps."""
_LONG = 10.0
"""Seconds after the start. If nothing can be registered by then, a warning is logged."""
_VERSION = "karta-interpreter.io/version"
"""The annotation with the version of the server that has written the configuration."""
_NEWER_SECONDS = 60.0
"""How long an older version leaves the configuration of a newer one. After a way back no newer one writes again."""


class Registrar:
    """Applies the configuration whenever it differs from the desired one.

    Every replica does so in the same way: there is no leader. Changes of another writer are put back, but at a limited
    rate. Nothing is applied before the store has definitions and ``endpoint`` returns an endpoint. Call `wake` when it
    returns another one. Before a change is put back, or something is taken away, ``refresh`` is awaited, because
    another replica may know a new CA, or a Karta, a moment before this one. The difference also has to last, because a
    slow write of another replica may have been overtaken and is followed by another write. What a newer ``version`` has
    written stays for a minute, so that the two versions of a rolling upgrade do not take turns. ``in_step``: the
    configuration was as desired when it was last read. Admission webhooks of the same name get the CA, too.
    ``configuration`` makes the object.
    """

    def __init__(
        self,
        api: ApiServer,
        store: Store,
        endpoint: Callable[[], Endpoint | None],
        name: str = NAME,
        *,
        configuration: Callable[..., Object] = webhook_configuration,
        refresh: AsyncAction,
        version: str = __version__,
    ) -> None:
        self._api = api
        self._store = store
        self._endpoint = endpoint
        self._name = name
        self._configuration = configuration
        self._refresh = refresh
        self._version = version
        self._newer: tuple[JSON, float] | None = None
        self.in_step = False
        self._woken = asyncio.Event()
        self._crds = Informer(api, CRDS, lambda crd: served_kinds([crd]), _PACE)
        self._present = Informer(api, CONFIGURATIONS, dict, _PACE)
        self._counts = OtherCounts(api, _PACE, self.wake)
        self._admission = AdmissionCA(api, lambda: at.ca_bundle if (at := endpoint()) else b"", name)
        self._applied: Object | None = None
        self._became: JSON = None
        self._differed = False
        self._started = 0.0
        self._failures = 0
        self._rate_limit = RateLimit(burst=5, seconds=60.0)
        self._messages = Messages()

    def wake(self) -> None:
        """Look again soon whether the configuration is as desired."""
        self._woken.set()
        self._admission.wake()

    def has_announced(self, authority: bytes) -> bool:
        """Return whether all known callers of this server trust a CA (PEM)."""
        webhooks = edit.get(self._present.objects.get(self._name), ("webhooks",)) or ()
        bundles = [edit.get(webhook, ("clientConfig", "caBundle")) or "" for webhook in webhooks]
        is_registered = bool(bundles) and all(authority in base64.b64decode(bundle) for bundle in bundles)
        return is_registered and self._admission.has_announced(authority)

    async def run(self) -> None:
        """Keep the configuration in step until cancelled. Nothing that the API server does ends it."""
        self._started = asyncio.get_running_loop().time()
        unsubscribe = self._store.subscribe(lambda _: self.wake())
        try:
            works: list[AsyncAction] = [
                partial(self._crds.follow, self.wake),
                partial(self._present.follow, self.wake),
                partial(self._counts.customizations.follow, self.wake),
                self._counts.run,
                self._keep,
                self._admission.run,
            ]
            async with asyncio.TaskGroup() as tasks:
                for work in works:
                    tasks.create_task(keep_running("registers", work, _PACE.longest))
        finally:
            unsubscribe()

    async def _keep(self) -> None:
        again: float | None = _DEBOUNCE
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(again):
                    await self._woken.wait()
                await asyncio.sleep(_DEBOUNCE)
            self._woken.clear()
            again = await self._turn()

    async def _turn(self) -> float | None:
        """Do the work that is due now. Return the seconds until the next look if nothing happens before."""
        endpoint = self._known_endpoint()
        if not endpoint:
            return _DEBOUNCE
        snapshot, served = self._store.snapshot, None
        if self._crds.listed:
            served = {gvk: kind for kinds in self._crds.objects.values() for gvk, kind in kinds.items()}
        present = self._present.objects.get(self._name)
        make = partial(self._configuration, snapshot, endpoint, served, name=self._name, present=present)
        # In a thread: it takes 0.1 ms for each kind, and there may be thousands.
        others = await self._counts.others(snapshot, self._present.objects.values(), self._name)
        desired = _marked(await asyncio.to_thread(make, others=others), self._version)
        if others:
            self._log_left_out(desired, await asyncio.to_thread(make), others)
        if endpoint.doubt:
            self._messages.log("doubt", logging.ERROR, f"Karmada rejects the certificate: {endpoint.doubt}")
        for finding in left_out(snapshot, served):
            self._messages.log(finding.message, logging.WARNING, f"{finding.message} ({finding.hint})")
        # The API server or an admission webhook may complete the applied object. This is not a change by others.
        expected = self._became if desired == self._applied else _essence(desired)
        self.in_step = present is not None and _essence(present) == expected
        if self.in_step:
            self._differed = False
            return None
        if seconds := self._left_to_newer(present) or await self._doubted(present, desired, endpoint, snapshot):
            return seconds
        return await self._apply(desired)

    async def _doubted(self, present: Object | None, desired: Object, endpoint: Endpoint, snapshot: Snapshot) -> float:
        """Return the seconds until the next look if it is not certain that the desired object is to be applied."""
        # After a failure the present object may still be the one from before our own write.
        is_of_others = desired == self._applied and not self._failures
        if not is_of_others and not _takes_away(present, desired):
            return 0
        differed, self._differed = self._differed, True
        try:
            await self._refresh()
        except ClusterError as error:
            _logger.debug("the Kartas cannot be read again: %s", error)
            return _DEBOUNCE
        if self._endpoint() != endpoint or self._store.snapshot is not snapshot or not differed:
            return _DEBOUNCE
        return self._put_back(present, desired) if is_of_others else 0

    def _left_to_newer(self, present: Object | None) -> float:
        """Return the seconds for which the configuration of a newer version stays, 0 if no newer one has written it."""
        version = str(edit.get(present, ("metadata", "annotations", _VERSION)) or "")
        if present is None or _numbers(version) <= _numbers(self._version):
            self._newer = None
            return 0
        essence, now = _essence(present), asyncio.get_running_loop().time()
        if self._newer is None or self._newer[0] != essence:
            self._newer = essence, now
        seconds = max(self._newer[1] + _NEWER_SECONDS - now, 0)
        if seconds:
            self._messages.log("newer", logging.INFO, f"{self._name} is left to version {version} for a minute")
        return seconds

    def _known_endpoint(self) -> Endpoint | None:
        """Return the endpoint while the definitions to register and the present registration are known."""
        for collection in (self._present, self._crds, self._counts.customizations):
            if not collection.in_step or not (collection.listed or collection.problem):
                if collection.problem and self._applied is None:
                    self._messages.log("apply", logging.ERROR, f"cannot register: {collection.problem}")
                return None
        if self._present.problem and self._present.problem.status == HTTPStatus.FORBIDDEN:
            self._messages.log("present", logging.WARNING, f"changes by others go unnoticed: {self._present.problem}")
        if self._crds.problem and self._crds.is_refused:
            self._messages.log(
                "crds",
                logging.WARNING,
                f"kinds are registered without a look at their CRDs: {self._crds.problem}",
            )
        if (problem := self._counts.customizations.problem) and self._counts.customizations.is_refused:
            message = f"kinds are registered without a look at the customizations that Karmada asks first: {problem}"
            self._messages.log("customizations", logging.WARNING, message)
        if lost := self._counts.customizations.left_out:
            lacking = f"there is no room for {count(len(lost), 'customization')}: {listed(lost)}"
            message = f"{lacking}; kinds are registered as if they were not there"
            self._messages.log("customizations", logging.ERROR, message)
        # Generation 0 is a store that has read nothing. Registering it would take all kinds away.
        endpoint = self._endpoint() if self._store.snapshot.generation else None
        if endpoint is None and self._applied is None and asyncio.get_running_loop().time() - self._started > _LONG:
            self._messages.log(
                "apply", logging.WARNING, "nothing is registered yet: definitions or certificate are not there"
            )
        return endpoint

    def _log_left_out(self, desired: Object, alone: Object, others: Mapping[GVK, Others]) -> None:
        """Log what is left out next to another interpreter, and halves of a count that could not be compared."""
        registered = registered_operations(desired)
        for gvk, other in others.items():
            half, agreement = other.half, other.agreement
            if half is None or agreement.agrees is not None or agreement == Agreement():
                continue
            ours, advice = OTHER_HALF[half], f'annotate it with {COUNTS_AGREE}, "true" or "false"'
            if ours in registered.get(gvk, ()):
                message = f"{ours} of {gvk} stays registered, although {other.names[half]} answers {half}"
                self._messages.log(f"{gvk} {half}", logging.WARNING, f"{message}: {agreement.reason}; {advice}")
        for gvk, operations in registered_operations(alone).items():
            for operation in (operation for operation in operations if operation not in registered.get(gvk, ())):
                why = others[gvk].why(gvk, operation)
                topic = f"{gvk} {operation}"
                self._messages.log(topic, logging.WARNING, f"{operation} of {gvk} is not registered: {why}")

    async def _apply(self, desired: Object) -> float | None:
        path = request_path(*_RESOURCE, name=self._name)
        try:
            answer = await self._api.apply(path, desired)
        except ClusterError as error:
            self._failures += 1
            self._messages.log(
                "apply",
                logging.ERROR,
                f"cannot register: {error}"
                + "; the kubeconfig has to be that of karmada-apiserver, not of the cluster it runs in"
                * (error.status == HTTPStatus.NOT_FOUND),
            )
            return _PACE.pause(self._failures)
        self._failures = 0
        self.in_step, self._newer = True, None
        self._applied, self._became = desired, _essence(answer)
        # Before the watch has it: the next turn would find the previous object, and write again.
        self._present.put(answer)
        self._messages.log(
            "apply",
            logging.INFO,
            f"registered {count(len(desired['webhooks']), 'kind')} as {self._name}",
        )
        return None

    def _put_back(self, present: Object | None, desired: Object) -> float:
        """Return 0 if another writer's change may be put back, else the seconds until then."""
        name, change = self._name, rival(present, desired)
        seconds = self._rate_limit.take(asyncio.get_running_loop().time())
        if not seconds:
            self._messages.forget("rival")
            _logger.warning("%s is put back: %s", name, change)
            return 0
        self._messages.log(
            "rival",
            logging.ERROR,
            f"{name} is changed again and again, and put back once a minute only: {change}. Each installation needs "
            f"its own {option('registration-name')}; replicas of one need the same version, settings and definitions",
        )
        return seconds


def _takes_away(present: Object | None, desired: Object) -> bool:
    """Return whether the desired object lacks a webhook that the present one has."""
    desired_webhooks = desired["webhooks"]
    return present is not None and any(webhook not in desired_webhooks for webhook in present.get("webhooks") or ())


def _marked(configuration: Object, version: str) -> Object:
    """Return the configuration with the version of its writer."""
    return {**configuration, "metadata": {**configuration["metadata"], "annotations": {_VERSION: version}}}


def _numbers(version: str) -> list[int]:
    """Return what versions are compared by.

    >>> _numbers("0.10.1") > _numbers("0.9"), _numbers("")
    (True, [])
    """
    return [int(number) for number in re.findall(r"[0-9]{1,9}", version)[:3]]


def _essence(configuration: Object) -> JSON:
    """Return the fields of the object that matter, without the labels and annotations of others."""
    manager = edit.get(configuration, ("metadata", "labels", "app.kubernetes.io/managed-by"))
    return [manager, configuration.get("webhooks") or []]
