"""Certificates that all replicas of a server share in a Secret, and renew there.

There is no leader. Of several replicas that find a renewal due, the one wins whose ``create`` comes first, or whose
``replace`` has the stored ``resourceVersion``; the others read its certificate.
"""

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from http import HTTPStatus

from karta_interpreter.base.errors import ClusterError, ServeError
from karta_interpreter.base.k8s import edit
from karta_interpreter.base.k8s.values import Object
from karta_interpreter.definitions.sources.api_server import MANAGER, ApiServer
from karta_interpreter.webhook.server.ca_rotation import KEYS, Keyring, Rotation, read_keyring
from karta_interpreter.webhook.server.certificate import Certificate, CertificateSource
from karta_interpreter.webhook.server.log import log

_ATTEMPTS = 5
_LABEL = "app.kubernetes.io/managed-by"
_NAME = re.compile(r"(?P<namespace>[a-z0-9][-a-z0-9]{0,62})/(?P<name>[a-z0-9][-a-z0-9.]{0,252})")


class SecretCertificates(CertificateSource):
    """The certificate in a Secret (``namespace/name``), created and renewed by the rules of `Rotation`.

    ``stand_in`` is shown until there is one. Raises ServeError for a malformed name.
    """

    def __init__(
        self,
        api: ApiServer,
        secret: str,
        rotation: Rotation,
        stand_in: Certificate,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        if not (match := _NAME.fullmatch(secret)):
            raise ServeError(f'"{secret}" is not a Secret: write namespace/name')
        self._api = api
        self._secret = secret
        self._metadata = {**match.groupdict(), "labels": {_LABEL: MANAGER}}
        self._collection = f"/api/v1/namespaces/{match['namespace']}/secrets"
        self._path = f"{self._collection}/{match['name']}"
        self._rotation = rotation
        self._clock = clock
        self._current = stand_in
        self._keyring = Keyring()
        self._problem = ""

    def read(self) -> Certificate:
        """Return the certificate that was seen last."""
        return self._current

    async def look(self) -> Certificate:
        """Return the certificate to serve from now on; raises ServeError when it cannot be read, made or renewed."""
        before = self._current
        for _ in range(_ATTEMPTS):
            try:
                present = await self._api.find(self._path)
                data = self._ours(present) if present else {}
                self._take(data)
                await self._renew(present, data)
            except ClusterError as error:
                # Another replica was faster: its Secret is read in the next attempt.
                if error.status == HTTPStatus.CONFLICT:
                    continue
                # What was read, or signed by another replica, is served even where writing fails.
                if self._current == before:
                    raise ServeError(f"the certificate in Secret {self._secret}: {error}") from error
            return self._current
        raise ServeError(f"the Secret {self._secret} is written all the time by others: find out who does that")

    async def close(self) -> None:
        """Close the connection."""
        await self._api.__aexit__(None, None, None)

    def _take(self, data: Mapping[str, bytes]) -> None:
        """Load the stored keyring; one that is broken only where none is known."""
        if not KEYS & data.keys():
            return
        keyring, problems = read_keyring(data, self._clock())
        problem = "; ".join(problems)
        if problem and problem != self._problem:
            log.error("the content of the Secret is broken, and is fixed", secret=self._secret, reason=problem)
        self._problem = problem
        if not problem or not self._keyring.authorities:
            self._keyring = keyring
            self._current = keyring.served or self._current

    def _ours(self, present: Object) -> dict[str, bytes]:
        """Return the content of the Secret; raises ServeError when another program owns it."""
        manager = edit.get(present, ("metadata", "labels", _LABEL))
        if manager != MANAGER:
            raise ServeError(
                f"the Secret {self._secret} is not ours, its label {_LABEL} is {manager or 'not set'}: delete it, or "
                "name another one with --certificate-secret; a certificate of your own is for --certificate-file"
            )
        found: dict[str, bytes] = {}
        for key, value in (present.get("data") or {}).items():
            try:
                found[key] = base64.b64decode(str(value), validate=True)
            except binascii.Error:
                # Treated as a broken key, which `_renew` replaces.
                found[key] = b""
        return found

    async def _renew(self, present: Object | None, stored: Mapping[str, bytes]) -> None:
        """Write what is due."""
        keyring = self._rotation.turn(self._keyring, self._clock())
        # Keys of others in the Secret stay.
        wanted = {key: value for key, value in stored.items() if key not in KEYS} | keyring.data()
        if stored != wanted:
            await self._write(present, wanted)
            authorities = [f"{each.not_valid_after_utc:%Y-%m-%d %H:%M} UTC" for each in keyring.trusted]
            names = keyring.pair.names if keyring.pair else ()
            log.info("the Secret is written", secret=self._secret, names=names, authorities_until=authorities)
        # Not before it is stored: of several replicas only the one whose write succeeds may serve what it has signed.
        self._keyring = keyring
        self._current = keyring.served or self._current

    async def _write(self, present: Object | None, data: Mapping[str, bytes]) -> None:
        encoded: Object = {key: base64.b64encode(value).decode() for key, value in data.items()}
        if present:
            await self._api.replace(self._path, {**present, "data": encoded})
            return
        secret = {"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "metadata": self._metadata}
        await self._api.create(self._collection, {**secret, "data": encoded})
