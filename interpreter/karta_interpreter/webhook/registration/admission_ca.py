"""Keeps the ``caBundle`` of a control plane's admission webhook in step with the server's CA.

Its manifest leaves ``caBundle`` out: only the server knows its CA and when the CA changes.
"""

import asyncio
import base64
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Final

from karta_interpreter.base.errors import ClusterError
from karta_interpreter.base.k8s import Object, edit, request_path
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.definitions.sources.informer import Pace
from karta_interpreter.definitions.sources.refusal import Refusal
from karta_interpreter.webhook.registration.configuration import NAME
from karta_interpreter.webhook.registration.conflicts import Messages

API_VERSION: Final = "admissionregistration.k8s.io/v1"
_RESOURCE: Final = (*API_VERSION.split("/"), "validatingwebhookconfigurations")
PATH: Final = request_path(*_RESOURCE)
WEBHOOK: Final = "validate.karta-interpreter.io"
"""The name of the webhook that asks this server about Kartas. Other webhooks are left unchanged."""

_logger = logging.getLogger(__name__)
_SECONDS: Final = 15.0
_OUT_OF_DATE: Final = (logging.WARNING, "may be out of date")
_REFUSALS: Final[Mapping[int, tuple[int, str]]] = {
    HTTPStatus.BAD_REQUEST: _OUT_OF_DATE,
    HTTPStatus.CONFLICT: _OUT_OF_DATE,
    HTTPStatus.FORBIDDEN: (logging.INFO, "is left to others"),
    HTTPStatus.UNPROCESSABLE_ENTITY: _OUT_OF_DATE,
}
"""By the status of a refusal: how to log it, and what becomes of the ``caBundle``."""


def admission_path(name: str) -> str:
    """Return the path of the configuration with a name. Raises ClusterError as `request_path`."""
    return request_path(*_RESOURCE, name=name)


class AdmissionCA:
    """Writes the authority into the configuration with a name if it is missing there.

    It creates no configuration, and skips one that it may not read for ``lasting`` seconds. The registrar logs an API
    server that cannot be asked. ``authority`` is PEM. It is empty while the CA is unknown and if no CA is needed.
    """

    def __init__(
        self,
        api: ApiServer,
        authority: Callable[[], bytes],
        name: str = NAME,
        seconds: float = _SECONDS,
        lasting: float = Pace().absent,
    ) -> None:
        self._api = api
        self._authority = authority
        self._name = name
        self._seconds = seconds
        self._lasting = lasting
        self._refusal = Refusal()
        self._woken = asyncio.Event()
        self._bundle: str | None = ""
        """What the webhook trusts, in base64. None if there is no webhook, or it may not be read."""
        self._messages = Messages()

    def wake(self) -> None:
        """Look again soon."""
        self._woken.set()

    def has_announced(self, authority: bytes) -> bool:
        """Return whether the webhook, if there was one at the last look, trusts an authority (PEM)."""
        return self._bundle is None or authority in base64.b64decode(self._bundle)

    async def run(self) -> None:
        """Keep the CA in the webhook until cancelled. Nothing that the API server does ends it."""
        while True:
            try:
                await self._update(admission_path(self._name))
            except ClusterError as error:
                self._note(error.status)
                # The server always has the kind, so that one of the name is missing is sure at once.
                if error.status == HTTPStatus.NOT_FOUND or self._refusal.lasts(self._lasting):
                    self._bundle = None
                if refusal := _REFUSALS.get(error.status):
                    level, outcome = refusal
                    self._messages.log(PATH, level, f"the caBundle of the admission webhook {outcome}: {error}")
            with suppress(TimeoutError):
                async with asyncio.timeout(self._seconds):
                    await self._woken.wait()
            self._woken.clear()

    def _note(self, status: int) -> None:
        self._refusal = self._refusal.after(status, asyncio.get_running_loop().time())

    async def _update(self, path: str) -> None:
        present = await self._api.get(path)
        self._bundle, bundle = _bundle_of(present), base64.b64encode(self._authority()).decode()
        if bundle and self._bundle not in (None, bundle):
            change = {
                "apiVersion": API_VERSION,
                "kind": present["kind"],
                "metadata": {"name": self._name},
                # The API server merges webhooks by name: their other fields, and other webhooks, stay.
                "webhooks": [{"name": WEBHOOK, "clientConfig": {"caBundle": bundle}}],
            }
            self._bundle = _bundle_of(await self._api.apply(path, change))
            _logger.info("%s %s trusts the authority of this server", present["kind"], self._name)
        self._note(0)
        self._messages.forget(PATH)


def _bundle_of(configuration: Object) -> str | None:
    """Return the ``caBundle`` of our webhook in base64, empty if it has none. None without the webhook."""
    for webhook in configuration.get("webhooks") or ():
        if webhook["name"] == WEBHOOK:
            return edit.get(webhook, ("clientConfig", "caBundle")) or ""
    return None
