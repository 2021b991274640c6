"""Which certificates a server serves, by its settings."""

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from karta_interpreter.errors import ServeError
from karta_interpreter.server.certificate_files import CertificateFiles
from karta_interpreter.server.self_signed import LOCAL, SelfSignedCertificates
from karta_interpreter.server.settings import Settings
from karta_interpreter.server.tls import CertificateSource
from karta_interpreter.sources.api_server import ApiServer

_EVERYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared with, not bound to
_LIVES = 4
"""How many certificates in a row an authority has to outlive, so that its successor is known in time."""


def certificate_source(
    settings: Settings, registered: str | None, is_trusted: Callable[[bytes], bool] = lambda _: True
) -> CertificateSource:
    """Return where certificates come from; raises ServeError when the settings contradict each other.

    ``registered`` is the name that Karmada expects, ``is_trusted`` whether Karmada knows of an authority.
    """
    own = () if settings.host in _EVERYWHERE else (settings.host,)
    names = (*settings.certificate_names, *own, *([registered] if registered else []))
    if settings.certificate_file or settings.key_file:
        return _files(settings)
    if settings.certificate_secret:
        return _secret(settings, settings.certificate_secret, names, is_trusted)
    return SelfSignedCertificates(names)


def _files(settings: Settings) -> CertificateSource:
    if settings.certificate_secret:
        raise ServeError("certificates come from files or from --certificate-secret, not from both: leave one out")
    if not settings.certificate_file or not settings.key_file:
        raise ServeError("a certificate needs its key and a key its certificate: give both files, or none")
    return CertificateFiles(settings.certificate_file, settings.key_file)


def _secret(
    settings: Settings, secret: str, names: tuple[str, ...], is_trusted: Callable[[bytes], bool]
) -> CertificateSource:
    # What signs in this process takes 10 MB, for as long as it runs: only for who signs again and again.
    from karta_interpreter.pki.authority import Authority  # noqa: PLC0415
    from karta_interpreter.server.certificate_secret import SecretCertificates, SecretName  # noqa: PLC0415
    from karta_interpreter.server.rotation import Rotation  # noqa: PLC0415

    if settings.ca_file:
        raise ServeError("--ca-file is for certificates from files: with --certificate-secret the authority is known")
    if settings.authority_days < _LIVES * settings.certificate_days:
        raise ServeError(f"--authority-days must be {_LIVES} times --certificate-days or more")
    rotation = Rotation(
        (*names, *LOCAL),
        timedelta(days=settings.certificate_days),
        timedelta(days=settings.authority_days),
        haste=random.random(),  # noqa: S311 - keeps replicas apart, hides nothing
        is_trusted=is_trusted,
    )
    now = datetime.now(UTC)
    stand_in = Authority.create(now, rotation.life).issue(dict.fromkeys(rotation.names), now, rotation.life)
    stand_in = replace(stand_in, authority=b"", stands_in=True)
    return SecretCertificates(ApiServer.of(), SecretName.parse(secret), rotation, stand_in)
