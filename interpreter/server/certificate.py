"""A certificate chain with its private key: the one thing that every certificate source yields."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from interpreter.errors import ServeError


@dataclass(frozen=True, slots=True)
class Certificate:
    """A pair that a server can use, as PEM; ``authority`` is what a client has to trust, where that is known.

    ``not_after`` is in seconds since 1970. ``stands_in`` tells that nobody trusts it: it is shown to probes until
    there is one that clients can be told of.
    """

    chain: bytes
    key: bytes = field(repr=False)
    names: tuple[str, ...]
    not_after: float
    authority: bytes = b""
    stands_in: bool = False


def check_pair(chain: bytes, key: bytes, *, sources: Mapping[str, object], now: datetime | None = None) -> Certificate:
    """Return the pair, or raise ServeError when Karmada would not accept it or OpenSSL could not load it.

    ``sources`` says where ``chain`` and ``key`` come from, for the message.
    """
    leaf = _leaf(chain, sources["chain"])
    if leaf.public_key() != _public_key(key, sources["key"]):
        raise ServeError(
            f"the key in {sources['key']} does not belong to the certificate in {sources['chain']}: give a pair"
        )
    names = names_of(leaf)
    if not names:
        raise ServeError(
            f"the certificate in {sources['chain']} has no subject alternative names, and Go clients read no "
            "others: issue it for the name in Karmada's webhook configuration, such as <service>.<namespace>.svc"
        )
    not_after = leaf.not_valid_after_utc
    if not_after <= (now or datetime.now(UTC)):
        raise ServeError(f"the certificate in {sources['chain']} expired at {not_after:%Y-%m-%d %H:%M} UTC: renew it")
    return Certificate(chain, key, names, not_after.timestamp())


def _leaf(chain: bytes, source: object) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificates(chain)[0]
    except ValueError as error:
        raise ServeError(f"{source} holds no PEM certificate: {error}") from error


def _public_key(key: bytes, source: object) -> object:
    try:
        return load_pem_private_key(key, password=None).public_key()
    except TypeError as error:
        raise ServeError(f"the key in {source} is encrypted: give one without a password") from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise ServeError(f"{source} holds no PEM private key: {error}") from error


def names_of(leaf: x509.Certificate) -> tuple[str, ...]:
    """Return the DNS names and then the addresses that a certificate is valid for."""
    try:
        names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return ()
    addresses = names.get_values_for_type(x509.IPAddress)
    return (*names.get_values_for_type(x509.DNSName), *map(str, addresses))
