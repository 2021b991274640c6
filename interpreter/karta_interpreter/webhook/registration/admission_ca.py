"""Keeps the ``caBundle`` of a control plane's admission webhooks in step with the server's CA.

Their manifests leave ``caBundle`` out: only the server knows its CA and when the CA changes.
"""

import asyncio
import base64
import logging
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from typing import Final

from karta_interpreter.base.errors import ClusterError
from karta_interpreter.base.k8s import Object, edit
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.webhook.registration.configuration import NAME
from karta_interpreter.webhook.registration.conflicts import Messages

API_VERSION: Final = "admissionregistration.k8s.io/v1"
PATHS: Final = tuple(f"/apis/{API_VERSION}/{kind}webhookconfigurations" for kind in ("validating", "mutating"))
"""The paths of the configurations on an API server."""
WEBHOOKS: Final = frozenset(("validate.karta-interpreter.io", "mutate.karta-interpreter.io"))
"""The names of the webhooks that ask this server about Kartas. Other webhooks are left unchanged."""

_logger = logging.getLogger(__name__)
_SECONDS: Final = 15.0
_REFUSALS: Final = (HTTPStatus.BAD_REQUEST, HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY)


class AdmissionCA:
    """Writes the authority into the configurations with a name if it is missing there.

    It creates no configuration, and skips a configuration that it may not read. The registrar logs an API server that
    cannot be asked. ``authority`` is PEM. It is empty while the CA is unknown and if no CA is needed.
    """

    def __init__(
        self,
        api: ApiServer,
        authority: Callable[[], bytes],
        name: str = NAME,
        seconds: float = _SECONDS,
    ) -> None:
        self._api = api
        self._authority = authority
        self._name = name
        self._seconds = seconds
        self._woken = asyncio.Event()
        self._bundles: dict[str, frozenset[str]] = {}
        self._messages = Messages()

    def wake(self) -> None:
        """Look again soon."""
        self._woken.set()

    def has_announced(self, authority: bytes) -> bool:
        """Return whether every webhook that existed at the last look trusts an authority (PEM)."""
        # Before the first look the CA counts as not trusted. Without webhooks, or without the right to read them, it
        # counts as trusted.
        bundles = [bundle for path in PATHS for bundle in self._bundles.get(path, ("",))]
        return all(authority in base64.b64decode(bundle) for bundle in bundles)

    async def run(self) -> None:
        """Keep the CA in the webhooks until cancelled. Nothing that the API server does ends it."""
        while True:
            for path in PATHS:
                try:
                    await self._update(path)
                except ClusterError as error:
                    self._fail(path, error)
            with suppress(TimeoutError):
                async with asyncio.timeout(self._seconds):
                    await self._woken.wait()
            self._woken.clear()

    async def _update(self, path: str) -> None:
        present = await self._api.get(f"{path}/{self._name}")
        bundles, bundle = _bundles(present), base64.b64encode(self._authority()).decode()
        if bundle and {*bundles.values()} - {bundle}:
            change = {
                "apiVersion": API_VERSION,
                "kind": present["kind"],
                "metadata": {"name": self._name},
                # The API server merges webhooks by name: their other fields, and other webhooks, stay.
                "webhooks": [{"name": name, "clientConfig": {"caBundle": bundle}} for name in bundles],
            }
            bundles = _bundles(await self._api.apply(f"{path}/{self._name}", change))
            _logger.info("%s %s trusts the authority of this server", present["kind"], self._name)
        self._messages.forget(path)
        self._bundles[path] = frozenset(bundles.values())

    def _fail(self, path: str, error: ClusterError) -> None:
        if error.status in (HTTPStatus.NOT_FOUND, HTTPStatus.FORBIDDEN):
            self._bundles[path] = frozenset()
        if error.status == HTTPStatus.FORBIDDEN:
            message = f"the caBundle of admission webhooks is left to others: {error}"
            self._messages.log(path, logging.INFO, message)
        elif error.status in _REFUSALS:
            message = f"the caBundle of admission webhooks may be out of date: {error}"
            self._messages.log(path, logging.WARNING, message)


def _bundles(configuration: Object) -> dict[str, str]:
    """Return the ``caBundle`` of each of our webhooks in base64, empty if it has none."""
    return {
        webhook["name"]: edit.get(webhook, ("clientConfig", "caBundle")) or ""
        for webhook in configuration.get("webhooks") or ()
        if webhook["name"] in WEBHOOKS
    }
