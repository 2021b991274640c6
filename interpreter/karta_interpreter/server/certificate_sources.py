"""Where the certificate of a server comes from, by its settings: files, a Secret, or the server itself."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from karta_interpreter.errors import ServeError
from karta_interpreter.server.certificate import Authority, Certificate, CertificateSource, check_pair
from karta_interpreter.server.settings import Settings
from karta_interpreter.sources.api_server import ApiServer

Clock = Callable[[], datetime]

LOCAL = ("localhost", "127.0.0.1", "::1")
"""Names of every certificate that a server signs, for clients that come through a forwarded port."""

_LIFE, _AUTHORITY_LIFE = timedelta(days=90), timedelta(days=3650)
_EVERYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared with, not bound to
_LIVES = 4
"""How many certificates in a row a CA has to outlive, so that its successor is known in time."""


def certificate_source(
    settings: Settings, registered: str | None = None, is_trusted: Callable[[bytes], bool] = lambda _: True
) -> CertificateSource:
    """Return where certificates come from; raises ServeError when the settings contradict each other.

    ``registered`` is the name that Karmada expects, ``is_trusted`` whether Karmada trusts a CA.
    """
    own = () if settings.host in _EVERYWHERE else (settings.host,)
    names = (*settings.certificate_names, *own, *([registered] if registered else []))
    files, secret = (settings.certificate_file, settings.key_file), settings.certificate_secret
    if any(files) and secret:
        raise ServeError("certificates come from files or from --certificate-secret, not from both: leave one out")
    if files[0] and files[1]:
        return CertificateFiles(files[0], files[1])
    if any(files):
        raise ServeError("a certificate needs its key and a key its certificate: give both files, or none")
    return _secret(settings, secret, names, is_trusted) if secret else SelfSignedCertificates(names)


class CertificateFiles(CertificateSource):
    """A chain and a key in PEM files, such as a mounted Secret, which another program renews.

    They are read as a whole each time: that sees every kind of change, also the link that a mounted Secret turns
    to a new folder, and costs less than asking what has changed.
    """

    def __init__(self, chain: Path, key: Path, clock: Clock = lambda: datetime.now(UTC)) -> None:
        self._chain = chain
        self._key = key
        self._clock = clock

    def read(self) -> Certificate:
        """Return the pair that the files hold now; raises ServeError when they hold none that can be served."""
        chain, key = _content(self._chain), _content(self._key)
        return check_pair(chain, key, sources={"chain": self._chain, "key": self._key}, now=self._clock())


class SelfSignedCertificates(CertificateSource):
    """A CA that lives as long as the process, and certificates for ``names`` signed by it.

    The CA is the ``caBundle`` for Karmada's webhook configuration. Certificates are renewed when two thirds of their
    life have passed. Nothing is kept on disk. Raises ServeError for a name that no certificate can have.
    """

    def __init__(self, names: Iterable[str] = (), clock: Clock = lambda: datetime.now(UTC)) -> None:
        self._names = tuple(dict.fromkeys([*names, *LOCAL]))
        self._clock = clock
        self._authority = Authority.create(clock(), _AUTHORITY_LIFE)
        self._current = self._authority.issue(self._names, clock(), _LIFE)

    def read(self) -> Certificate:
        """Return the certificate to serve now."""
        now = self._clock()
        if self._current.not_after - now.timestamp() < _LIFE.total_seconds() / 3:
            self._current = self._authority.issue(self._names, now, _LIFE)
        return self._current


def _secret(
    settings: Settings, secret: str, names: tuple[str, ...], is_trusted: Callable[[bytes], bool]
) -> CertificateSource:
    # Imported only where it is used: the other sources need none of it.
    from karta_interpreter.server.ca_rotation import Rotation  # noqa: PLC0415
    from karta_interpreter.server.certificate_secret import SecretCertificates  # noqa: PLC0415

    if settings.ca_file:
        raise ServeError("--ca-file is for certificates from files: with --certificate-secret the authority is known")
    if settings.authority_days < _LIVES * settings.certificate_days:
        raise ServeError(f"--authority-days must be {_LIVES} times --certificate-days or more")
    rotation = Rotation(
        (*names, *LOCAL),
        timedelta(days=settings.certificate_days),
        timedelta(days=settings.authority_days),
        is_trusted=is_trusted,
    )
    now = datetime.now(UTC)
    stand_in = Authority.create(now, rotation.life).issue(dict.fromkeys(rotation.names), now, rotation.life)
    stand_in = replace(stand_in, authority=b"", stands_in=True)
    return SecretCertificates(ApiServer.of(), secret, rotation, stand_in)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ServeError(f"cannot read {path}: {error.strerror}; check the path and who may read it") from error
