"""Certificates that all replicas of a server share in a Secret, and renew there, with the CAs that sign them.

`Rotation` has the rules: every client trusts the served certificate at any time. docs/developers/server.md describes
the rules and the keys of the Secret in which all replicas keep a `Keyring`. With certificates of 90 days, a CA gets a
successor 180 days before its end. The successor is trusted for 30 to 90 days before it signs.

There is no leader. If several replicas find a renewal due, the winner is the replica that calls ``create`` first, or
has the stored ``resourceVersion`` in its ``replace``. The others read its certificate.
"""

import base64
import binascii
import ipaddress
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import TypeAlias

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding
from msgspec import Struct, structs

from karta_interpreter.base.errors import ClusterError, ServeError, SettingsError
from karta_interpreter.base.k8s import Object, edit, request_path
from karta_interpreter.definitions.sources.api_server import MANAGER, ApiServer, existing
from karta_interpreter.webhook.http.certificate import (
    Authority,
    Certificate,
    CertificateSource,
    check_pair,
    issued_at,
)
from karta_interpreter.webhook.log import log
from karta_interpreter.webhook.settings import option

_Data: TypeAlias = Mapping[str, bytes]
"""The content of a Secret."""

_CHAIN, _KEY, _BUNDLE = "tls.crt", "tls.key", "ca.crt"
_ROLES = ("authority", "successor")
KEYS = frozenset({_CHAIN, _KEY, _BUNDLE, *(f"{role}.{suffix}" for role in _ROLES for suffix in ("crt", "key"))})
"""The keys of the Secret that are ours."""

# All in lives of a certificate.
_RENEWED_AFTER = 2 / 3
# `is_trusted` knows the callers that are registered. Any other client has this time to read a new CA.
_PUBLISHED_FOR = 1 / 3
# With less time left, a CA that some client may not know yet is better than a certificate that expires.
_URGENT = 1 / 10
# Time for one more certificate of the old CA, which ends before the CA, while its successor becomes known.
_OUTLIVES = 2


class Keyring(Struct, frozen=True):
    """Authorities with their keys, oldest first, ``former`` ones without keys, and the certificate that is served."""

    authorities: tuple[Authority, ...] = ()
    former: tuple[x509.Certificate, ...] = ()
    pair: Certificate | None = None

    @property
    def trusted(self) -> tuple[x509.Certificate, ...]:
        """Return the CAs that may have signed a certificate that some replica serves or will serve."""
        return (*(authority.certificate for authority in self.authorities), *self.former)

    @property
    def bundle(self) -> bytes:
        """Return the trusted CAs as PEM: the ``caBundle`` for Karmada's webhook configuration."""
        return b"".join(certificate.public_bytes(Encoding.PEM) for certificate in self.trusted)

    @property
    def leaf(self) -> x509.Certificate | None:
        """Return the certificate that is served."""
        return x509.load_pem_x509_certificate(self.pair.chain) if self.pair else None

    @property
    def served(self) -> Certificate | None:
        """Return the pair together with all CAs that its clients have to trust."""
        return replace(self.pair, authority=self.bundle) if self.pair else None

    def data(self) -> dict[str, bytes]:
        """Return the content of the Secret."""
        content = {_BUNDLE: self.bundle}
        if self.pair:
            content |= {_CHAIN: self.pair.chain, _KEY: self.pair.key}
        for role, authority in zip(_ROLES, self.authorities, strict=False):
            content |= {f"{role}.crt": authority.pem, f"{role}.key": authority.key_pem}
        return content


def read_keyring(data: _Data, now: datetime) -> tuple[Keyring, tuple[str, ...]]:
    """Return the usable content of a Secret, and the problems of the rest."""
    problems: list[str] = []
    authorities = tuple(_authorities(data, problems))
    bundle: list[x509.Certificate] = []
    try:
        bundle = x509.load_pem_x509_certificates(data.get(_BUNDLE, b""))
    except ValueError:
        problems.append(f"{_BUNDLE} holds no PEM certificates")
    signing = {authority.certificate for authority in authorities}
    keyring = Keyring(authorities, tuple(certificate for certificate in bundle if certificate not in signing))
    try:
        pair = check_pair(data.get(_CHAIN, b""), data.get(_KEY, b""), sources={"chain": _CHAIN, "key": _KEY}, now=now)
    except ServeError as error:
        problems.append(str(error))
    else:
        if signer_of(served := structs.replace(keyring, pair=pair)):
            return served, tuple(problems)
        problems.append(f"no certificate in {_BUNDLE} has signed {_CHAIN}")
    return keyring, tuple(problems)


def signer_of(keyring: Keyring) -> x509.Certificate | None:
    """Return the authority that signed the served certificate, if it is trusted."""
    if leaf := keyring.leaf:
        for authority in keyring.trusted:
            with suppress(ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm):
                leaf.verify_directly_issued_by(authority)
                return authority
    return None


def _authorities(data: _Data, problems: list[str]) -> Iterator[Authority]:
    for role in _ROLES:
        files = {"chain": f"{role}.crt", "key": f"{role}.key"}
        # The first CA has to be there. A successor is there only for some time.
        if role == _ROLES[0] or data.keys() & {*files.values()}:
            try:
                yield Authority.load(*(data.get(file, b"") for file in files.values()), sources=files)
            except (ServeError, ValueError) as error:
                problems.append(f"{' and '.join(files.values())} are not an authority: {error}")


class Rotation(Struct, frozen=True):
    """Certificates for ``names`` that live for ``life``, signed by authorities that live for ``authority_life``.

    ``is_trusted`` returns whether clients trust a CA (PEM).
    """

    names: tuple[str, ...]
    life: timedelta
    authority_life: timedelta
    is_trusted: Callable[[bytes], bool] = lambda _: True

    def turn(self, keyring: Keyring, now: datetime) -> Keyring:
        """Return the keyring as it should be now. It is equal to the present one if nothing is due."""
        running = Keyring(
            tuple(authority for authority in keyring.authorities if _left(authority.certificate, now) > timedelta(0)),
            tuple(certificate for certificate in keyring.former if _left(certificate, now) > timedelta(0)),
            keyring.pair if keyring.pair and keyring.pair.not_after > now.timestamp() else None,
        )
        keyring = self._with_authority(running, now)
        if not self._is_due(keyring, now):
            return keyring
        signer = self._signer(keyring, now)
        if not signer:
            return keyring
        # CAs older than the signer lose their keys.
        authorities = keyring.authorities[keyring.authorities.index(signer) :]
        retired = tuple(authority.certificate for authority in keyring.authorities if authority not in authorities)
        # Replicas may disagree during an upgrade. The names of another replica are left out only with the next regular
        # renewal, because replicas would otherwise go on signing against each other.
        others = keyring.pair.names if keyring.pair and not self._has_names(keyring) else ()
        names = dict.fromkeys([*map(_canonical, self.names), *others])
        return Keyring(authorities, (*retired, *keyring.former), signer.issue(names, now, self.life))

    def _with_authority(self, keyring: Keyring, now: datetime) -> Keyring:
        """Publish a new CA if there is none that outlives the next certificates."""
        *others, newest = keyring.authorities or (None,)
        # If there are two CAs, the newer one is already the successor.
        if newest and (others or _left(newest.certificate, now) >= _OUTLIVES * self.life):
            return keyring
        return structs.replace(keyring, authorities=(*keyring.authorities, Authority.create(now, self.authority_life)))

    def _is_due(self, keyring: Keyring, now: datetime) -> bool:
        leaf = keyring.leaf
        # A clock that was wrong may have dated it later than now.
        if not leaf or not self._has_names(keyring) or now < leaf.not_valid_before_utc:
            return True
        life = leaf.not_valid_after_utc - issued_at(leaf)
        return now - issued_at(leaf) >= life * _RENEWED_AFTER

    def _signer(self, keyring: Keyring, now: datetime) -> Authority | None:
        """Return the CA that signs the next certificate, None to wait until clients trust it."""
        newest = keyring.authorities[-1]
        if now - issued_at(newest.certificate) >= self.life * _PUBLISHED_FOR and self.is_trusted(newest.pem):
            return newest
        authority = keyring.authorities[0]
        signs_already = keyring.pair is None or authority.certificate == signer_of(keyring)
        if signs_already and _left(authority.certificate, now) >= self.life * _PUBLISHED_FOR:
            return authority
        leaf = keyring.leaf
        is_urgent = leaf is None or _left(leaf, now) < (leaf.not_valid_after_utc - issued_at(leaf)) * _URGENT
        # Nothing better can be had any more.
        return newest if is_urgent else None

    def _has_names(self, keyring: Keyring) -> bool:
        return keyring.pair is not None and {*map(_canonical, self.names)} <= {*keyring.pair.names}


def _left(certificate: x509.Certificate, now: datetime) -> timedelta:
    return certificate.not_valid_after_utc - now


def _canonical(name: str) -> str:
    """Return a name as certificates spell it, which for an address has no scope.

    >>> _canonical("FD00::01"), _canonical("fe80::1%eth0"), _canonical("Karta.example.com")
    ('fd00::1', 'fe80::1', 'Karta.example.com')
    """
    try:
        return str(ipaddress.ip_address(name)).partition("%")[0]
    except ValueError:
        return name


_ATTEMPTS = 5
_LABEL = "app.kubernetes.io/managed-by"


class SecretCertificates(CertificateSource):
    """The certificate in a Secret (``namespace/name``), created and renewed by the rules of `Rotation`.

    ``placeholder`` is shown until there is a certificate. Raises ServeError for a malformed name.
    """

    def __init__(
        self,
        api: ApiServer,
        secret: str,
        rotation: Rotation,
        placeholder: Certificate,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        namespace, _, name = secret.partition("/")
        try:
            self._path = request_path("", "v1", "secrets", namespace=namespace, name=name)
        except ClusterError as error:
            raise SettingsError(f'"{secret}" is not a Secret: write namespace/name') from error
        self._api = api
        self._secret = secret
        self._metadata = {"namespace": namespace, "name": name, "labels": {_LABEL: MANAGER}}
        self._collection = request_path("", "v1", "secrets", namespace=namespace)
        self._rotation = rotation
        self._clock = clock
        self._current = placeholder
        self._keyring = Keyring()
        self._problem = ""

    def read(self) -> Certificate:
        """Return the certificate that was seen last."""
        return self._current

    async def fetch(self) -> Certificate:
        """Return the certificate to serve from now on. Raises ServeError if it cannot be read, made or renewed."""
        before = self._current
        for _ in range(_ATTEMPTS):
            try:
                present = await existing(self._api.get(self._path))
                data = self._ours(present) if present else {}
                self._take(data)
                await self._renew(present, data)
            except ClusterError as error:
                # Another replica was faster. The next attempt reads its Secret.
                if error.status == HTTPStatus.CONFLICT:
                    continue
                # A certificate that was read, or signed by another replica, is served even if writing fails.
                if self._current == before:
                    raise ServeError(f"the certificate in Secret {self._secret}: {error}") from error
            return self._current
        raise ServeError(f"the Secret {self._secret} is written all the time by others: find out who does that")

    async def close(self) -> None:
        """Close the connection."""
        await self._api.__aexit__(None, None, None)

    def _take(self, data: _Data) -> None:
        """Load the stored keyring. A broken keyring is loaded only if no other is known."""
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
        """Return the content of the Secret. Raises ServeError if another program owns it."""
        manager = edit.get(present, ("metadata", "labels", _LABEL))
        if manager != MANAGER:
            raise ServeError(
                f"the Secret {self._secret} is not ours, its label {_LABEL} is {manager or 'not set'}: delete it, or "
                "name another one with --certificate-secret; a certificate of your own is for "
                f"{option('certificate-file')}"
            )
        content: dict[str, bytes] = {}
        for key, value in (present.get("data") or {}).items():
            try:
                content[key] = base64.b64decode(str(value), validate=True)
            except binascii.Error:
                # Treated as a broken key, which `_renew` replaces.
                content[key] = b""
        return content

    async def _renew(self, present: Object | None, stored: _Data) -> None:
        keyring = self._rotation.turn(self._keyring, self._clock())
        # Keys of others in the Secret stay.
        content = {key: value for key, value in stored.items() if key not in KEYS} | keyring.data()
        if stored != content:
            await self._write(present, content)
            authorities = [f"{authority.not_valid_after_utc:%Y-%m-%d %H:%M} UTC" for authority in keyring.trusted]
            names = keyring.pair.names if keyring.pair else ()
            log.info("the Secret is written", secret=self._secret, names=names, authorities_until=authorities)
        # Not before it is stored: of several replicas, only the one that writes successfully may serve the certificate
        # that it signed.
        self._keyring = keyring
        self._current = keyring.served or self._current

    async def _write(self, present: Object | None, data: _Data) -> None:
        encoded: Object = {key: base64.b64encode(value).decode() for key, value in data.items()}
        if present:
            await self._api.replace(self._path, {**present, "data": encoded})
            return
        secret = {"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "metadata": self._metadata}
        await self._api.create(self._collection, {**secret, "data": encoded})
