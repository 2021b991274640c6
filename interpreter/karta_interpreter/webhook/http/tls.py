"""TLS for a server with a certificate that changes at run time: from files, from a Secret, or signed by the server."""

import asyncio
import os
import ssl
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from karta_interpreter.base.errors import ServeError, SettingsError
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.webhook.http.certificate import (
    CLOCK_SKEW,
    Authority,
    Certificate,
    CertificateSource,
    check_pair,
)
from karta_interpreter.webhook.log import log
from karta_interpreter.webhook.settings import DefinitionSettings, Settings

_FIRST_INTERVAL = 1.0
"""Seconds between two looks while there is no certificate at all."""


class Tls:
    """An SSL context with the certificate of a source, which is asked again at intervals.

    If a certificate cannot be read or served, the present one stays. ``failed`` is called for each failure, and a
    reason is logged once. ``renewed`` is called when a new certificate is served.
    """

    def __init__(
        self,
        source: CertificateSource,
        renewed: Callable[[], None] = lambda: None,
        failed: Callable[[], None] = lambda: None,
    ) -> None:
        self.source = source
        self._renewed, self._failed = renewed, failed
        self._problem = ""
        self._looking = asyncio.Lock()
        self.install(source.read())

    @property
    def not_after(self) -> float | None:
        """Return when the certificate expires, in seconds since 1970, None while a placeholder is served."""
        return None if self.certificate.is_placeholder else self.certificate.not_after

    def install(self, certificate: Certificate) -> None:
        """Serve a certificate from now on. Raises ServeError, and changes nothing, if OpenSSL does not take it.

        Only new connections use it. They get a new context: a context that rejects a key has already taken the chain,
        and goes on showing its previous certificate for a key of another type, such as EC before RSA.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        # In TLS 1.2 a client could ask for one costly handshake after another on an admitted connection.
        context.options |= ssl.OP_NO_RENEGOTIATION
        # Go offers HTTP/2 as well, which aiohttp does not speak.
        context.set_alpn_protocols(["http/1.1"])
        # An OSError other than `ssl.SSLError` is not about the certificate: the machine is out of file handles.
        with _private_file(certificate.chain) as chain, _private_file(certificate.key) as key:
            try:
                context.load_cert_chain(chain, key)
            except ssl.SSLError as error:
                raise ServeError(f"OpenSSL does not take the certificate: {error.reason or error}") from error
        self.context, self.certificate = context, certificate

    async def run(self, interval: float) -> None:
        """Look for another certificate every ``interval`` seconds until cancelled."""
        while True:
            await asyncio.sleep(min(interval, _FIRST_INTERVAL) if self.not_after is None else interval)
            await self.reload_if_changed()

    async def reload_if_changed(self) -> None:
        """Ask the source, and serve its certificate."""
        # The task at intervals, a reload and the registrar may look at the same time, and a look may write the Secret.
        async with self._looking:
            try:
                certificate = await self.source.fetch()
                if certificate != self.certificate:
                    is_renewed = certificate.chain != self.certificate.chain
                    self.install(certificate)
                    message = "certificate renewed" if is_renewed else "authorities changed"
                    end = datetime.fromtimestamp(certificate.not_after, UTC)
                    log.info(message, names=certificate.names, until=f"{end:%Y-%m-%d %H:%M} UTC")
                    self._renewed()
            except Exception as error:  # noqa: BLE001 - the next attempt may succeed after any error
                self._failed()
                problem, cause = (str(error), None) if isinstance(error, ServeError) else (repr(error), error)
                if problem != self._problem:
                    message = (
                        "there is no certificate yet"
                        if self.certificate.is_placeholder
                        else "there is no new certificate, the present one stays"
                    )
                    log.error(message, reason=problem, exc_info=cause)
                self._problem = problem
            else:
                self._problem = ""


@contextmanager
def _private_file(content: bytes) -> Iterator[str]:
    """Yield the path of a file for a key: `ssl` reads no other way. In memory where possible, so never on a disk."""
    in_memory = hasattr(os, "memfd_create")
    with os.fdopen(os.memfd_create("pair"), "wb") if in_memory else tempfile.NamedTemporaryFile("wb") as file:
        file.write(content)
        file.flush()
        yield f"/proc/self/fd/{file.fileno()}" if in_memory else file.name


Clock = Callable[[], datetime]

LOCAL = ("localhost", "127.0.0.1", "::1")
"""Names in every certificate that a server signs, for clients that come through a forwarded port."""

_LIFE, _AUTHORITY_LIFE = timedelta(days=90), timedelta(days=3650)
_EVERYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared with, not bound to
_LIVES = 4
"""A CA has to outlive this many certificates in a row, so that its successor is known in time."""


def certificate_source(
    settings: Settings, registered: str | None = None, is_trusted: Callable[[bytes], bool] = lambda _: True
) -> CertificateSource:
    """Return the source of certificates. Raises ServeError if the settings contradict each other.

    ``registered`` is the name that Karmada expects. ``is_trusted`` returns whether Karmada trusts a CA.
    """
    host_names = () if settings.host in _EVERYWHERE else (settings.host,)
    names = (*settings.certificate_names, *host_names, *([registered] if registered else []))
    secret = settings.certificate_secret
    if (settings.certificate_file or settings.key_file) and secret:
        raise SettingsError("certificates come from files or from --certificate-secret, not from both: leave one out")
    if files := certificate_files(settings):
        return files
    return _secret(settings, secret, names, is_trusted) if secret else SelfSignedCertificates(names)


def certificate_files(settings: DefinitionSettings) -> "CertificateFiles | None":
    """Return the files of a certificate, None if the settings name none. Raises ServeError for half of a pair."""
    if settings.certificate_file and settings.key_file:
        return CertificateFiles(settings.certificate_file, settings.key_file)
    if settings.certificate_file or settings.key_file:
        raise SettingsError("a certificate needs its key and a key its certificate: give both files, or none")
    return None


class CertificateFiles(CertificateSource):
    """A chain and a key in PEM files, such as a mounted Secret, which another program renews.

    They are read as a whole each time. This detects every kind of change, including the link that a mounted Secret
    turns to a new folder, and costs less than asking for the changes.
    """

    def __init__(self, chain: Path, key: Path, clock: Clock = lambda: datetime.now(UTC)) -> None:
        self._chain = chain
        self._key = key
        self._clock = clock

    def read(self) -> Certificate:
        """Return the pair that the files hold now. Raises ServeError if they hold no pair that can be served."""
        chain, key = _content(self._chain), _content(self._key)
        return check_pair(chain, key, sources={"chain": self._chain, "key": self._key}, now=self._clock())


class SelfSignedCertificates(CertificateSource):
    """A CA that lives as long as the process, and certificates for ``names`` signed by it.

    Certificates are renewed when two thirds of their life have passed, or if a wrong clock has dated them in the
    future. Nothing is kept on disk. Raises ServeError for a name that no certificate can have.
    """

    def __init__(self, names: Iterable[str] = (), clock: Clock = lambda: datetime.now(UTC)) -> None:
        self._names = tuple(dict.fromkeys([*names, *LOCAL]))
        self._clock = clock
        self._authority = Authority.create(clock(), _AUTHORITY_LIFE)
        self._current = self._authority.issue(self._names, clock(), _LIFE)

    def read(self) -> Certificate:
        """Return the certificate to serve now."""
        now = self._clock()
        remaining = timedelta(seconds=self._current.not_after - now.timestamp())
        if _LIFE / 3 <= remaining <= _LIFE + CLOCK_SKEW:
            return self._current
        if not _LIFE <= self._authority.certificate.not_valid_after_utc - now <= _AUTHORITY_LIFE + CLOCK_SKEW:
            self._authority = Authority.create(now, _AUTHORITY_LIFE)
        self._current = self._authority.issue(self._names, now, _LIFE)
        return self._current


def _secret(
    settings: Settings, secret: str, names: tuple[str, ...], is_trusted: Callable[[bytes], bool]
) -> CertificateSource:
    # Imported only if needed: the other sources do not use it.
    from karta_interpreter.webhook.http.certificate_secret import Rotation, SecretCertificates  # noqa: PLC0415

    if settings.ca_file:
        raise SettingsError(
            "--ca-file is for certificates from files: with --certificate-secret the authority is known"
        )
    if settings.authority_days < _LIVES * settings.certificate_days:
        raise SettingsError(f"--authority-days must be {_LIVES} times --certificate-days or more")
    rotation = Rotation(
        (*names, *LOCAL),
        timedelta(days=settings.certificate_days),
        timedelta(days=settings.authority_days),
        is_trusted=is_trusted,
    )
    now = datetime.now(UTC)
    placeholder = Authority.create(now, rotation.life).issue(dict.fromkeys(rotation.names), now, rotation.life)
    placeholder = replace(placeholder, authority=b"", is_placeholder=True)
    return SecretCertificates(ApiServer.of(), secret, rotation, placeholder)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ServeError(f"cannot read {path}: {error.strerror}; check the path and who may read it") from error
