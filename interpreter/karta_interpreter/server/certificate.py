"""The certificate that a server presents, and checking that Karmada will accept it."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID

from karta_interpreter.errors import ServeError

_SERVER_USAGES = {ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE}


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate chain with its private key, as PEM; ``authority`` is the CA that clients need, where it is known.

    ``not_after`` is in seconds since 1970. ``stands_in`` marks a certificate that no client trusts: it is shown to
    probes until there is one that can be registered.
    """

    chain: bytes
    key: bytes = field(repr=False)
    names: tuple[str, ...]
    not_after: float
    authority: bytes = b""
    stands_in: bool = False


class CertificateSource(ABC):
    """Where certificates come from."""

    @abstractmethod
    def read(self) -> Certificate:
        """Return the certificate to serve at the start; raises ServeError when there is none."""

    async def look(self) -> Certificate:
        """Return the certificate to serve from now on, read in a thread; raises ServeError when it is not known."""
        return await asyncio.to_thread(self.read)

    async def close(self) -> None:  # noqa: B027 - most have nothing open
        """Close connections that the source has opened."""


def check_pair(chain: bytes, key: bytes, *, sources: Mapping[str, object], now: datetime | None = None) -> Certificate:
    """Return the pair; raises ServeError when it is none, or Karmada would not accept it.

    ``sources`` names where ``chain`` and ``key`` come from, for the message.
    """
    leaf = _leaf(chain, sources["chain"])
    _check_key(leaf, key, sources)
    names = _names(leaf, sources["chain"])
    if leaf.not_valid_after_utc <= (now or datetime.now(UTC)):
        raise ServeError(
            f"the certificate in {sources['chain']} expired at {leaf.not_valid_after_utc:%Y-%m-%d %H:%M} UTC: renew it"
        )
    return Certificate(chain, key, names, leaf.not_valid_after_utc.timestamp())


def names_of(leaf: x509.Certificate) -> tuple[str, ...]:
    """Return the DNS names and then the addresses that a certificate is valid for."""
    try:
        names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return ()
    addresses = names.get_values_for_type(x509.IPAddress)
    return (*names.get_values_for_type(x509.DNSName), *map(str, addresses))


def _leaf(chain: bytes, source: object) -> x509.Certificate:
    try:
        found = x509.load_pem_x509_certificates(chain)
    except ValueError as error:
        raise ServeError(f"{source} holds no PEM certificate: {error}") from error
    # A block without an end is skipped by the parser: a program may not have finished to write the file.
    if len(found) < chain.count(b"-----BEGIN CERTIFICATE-----"):
        raise ServeError(f"{source} holds no PEM certificate: one has no end")
    return found[0]


def _check_key(leaf: x509.Certificate, key: bytes, sources: Mapping[str, object]) -> None:
    try:
        private = load_pem_private_key(key, password=None)
    except TypeError as error:
        raise ServeError(f"the key in {sources['key']} is encrypted: give one without a password") from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise ServeError(f"{sources['key']} holds no PEM private key that OpenSSL can read") from error
    if private.public_key() != leaf.public_key():
        raise ServeError(
            f"the key in {sources['key']} does not belong to the certificate in {sources['chain']}: give a pair"
        )


def _names(leaf: x509.Certificate, source: object) -> tuple[str, ...]:
    """Return the names of a certificate for servers."""
    try:
        names = names_of(leaf)
        usages = set(leaf.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value)
    except x509.ExtensionNotFound:
        usages = _SERVER_USAGES
    except ValueError as error:
        raise ServeError(f"the certificate in {source} cannot be read: {error}") from error
    if not usages & _SERVER_USAGES:
        raise ServeError(f"no client takes the certificate in {source}: its key is not for servers")
    if not names:
        raise ServeError(
            f"the certificate in {source} has no subject alternative names, and Go clients read no others: issue it "
            "for the name in Karmada's webhook configuration, such as <service>.<namespace>.svc"
        )
    return names
