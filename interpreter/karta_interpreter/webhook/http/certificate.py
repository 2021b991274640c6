"""Certificates for servers: their parts, whether Karmada will accept them, and a CA that signs more."""

import asyncio
import ipaddress
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Self

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from karta_interpreter.base.errors import ServeError
from karta_interpreter.base.k8s.pem import are_exchanged, names_of, read_certificates

_SERVER_USAGES = {ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE}


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate chain with its private key, as PEM."""

    chain: bytes
    key: bytes = field(repr=False)
    names: tuple[str, ...]
    not_after: float
    """In seconds since 1970."""
    authority: bytes = b""
    """The CA that clients need, if it is known."""
    is_placeholder: bool = False
    """Marks a certificate that no client trusts. Probes see it until there is one that can be registered."""


class CertificateSource(ABC):
    """A source of certificates."""

    @abstractmethod
    def read(self) -> Certificate:
        """Return the certificate to serve at the start. Raises ServeError if there is none."""

    async def fetch(self) -> Certificate:
        """Return the certificate to serve from now on, read in a thread. Raises ServeError if it is not known."""
        return await asyncio.to_thread(self.read)

    async def close(self) -> None:  # noqa: B027 - most have nothing open
        """Close connections that the source has opened."""


def check_pair(chain: bytes, key: bytes, *, sources: Mapping[str, object], now: datetime | None = None) -> Certificate:
    """Return the pair. Raises ServeError, which names its ``sources``, if Karmada would reject the pair."""
    try:
        leaf, *issuers = read_certificates(chain, str(sources["chain"]))
    except ValueError as error:
        advice = f", and {sources['key']} holds a certificate: exchange the two" if are_exchanged(chain, key) else ""
        raise ServeError(f"{error}{advice}") from error
    _private_key(leaf, key, sources, issuers)
    names = _names(leaf, sources["chain"])
    if leaf.not_valid_after_utc <= (now or datetime.now(UTC)):
        raise ServeError(
            f"the certificate in {sources['chain']} expired at {leaf.not_valid_after_utc:%Y-%m-%d %H:%M} UTC: renew it"
        )
    return Certificate(chain, key, names, leaf.not_valid_after_utc.timestamp())


def _private_key(
    leaf: x509.Certificate, key: bytes, sources: Mapping[str, object], issuers: Sequence[x509.Certificate] = ()
) -> PrivateKeyTypes:
    """Return the key of a certificate. Raises ServeError for any other key, also for that of one of its ``issuers``."""
    try:
        public = leaf.public_key()
    except (ValueError, UnsupportedAlgorithm) as error:
        raise ServeError(f"{sources['chain']} is for a key that OpenSSL cannot read: {error}") from error
    try:
        private = load_pem_private_key(key, password=None)
    except TypeError as error:
        raise ServeError(f"the key in {sources['key']} is encrypted: give one without a password") from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise ServeError(f"{sources['key']} holds no PEM private key that OpenSSL can read") from error
    if private.public_key() != public:
        # A certificate contains this encoding of its key. Reading the key again fails for an unknown curve.
        place = next(
            (
                number
                for number, issuer in enumerate(issuers, start=2)
                if private.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
                in issuer.tbs_certificate_bytes
            ),
            0,
        )
        raise ServeError(
            f"the key in {sources['key']} belongs to certificate {place} in {sources['chain']}, and the server's "
            "certificate comes first: put it before its CA"
            if place
            else f"the key in {sources['key']} does not belong to the certificate in {sources['chain']}: give a pair"
        )
    return private


def _names(leaf: x509.Certificate, source: object) -> tuple[str, ...]:
    try:
        names = names_of(leaf)
        usages = set(leaf.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value)
    except x509.ExtensionNotFound:
        usages = _SERVER_USAGES  # a certificate without the extension may be used for anything
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


CLOCK_SKEW = timedelta(hours=1)
"""How far a client's clock may be behind."""
_USAGES = (
    *("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement"),
    *("key_cert_sign", "crl_sign", "encipher_only", "decipher_only"),
)
# Required by RFC 5280 for a CA (4.2.1.9), and recommended for key usages (4.2.1.3).
_CRITICAL = (x509.BasicConstraints, x509.KeyUsage)
# Signing takes any ASCII text, and no client asks for most of it.
_DNS_NAME = re.compile(r"(?!.{254})(?:\*\.)?[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63})*")


@dataclass(frozen=True, slots=True)
class Authority:
    """The certificate of a CA with its private key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey = field(repr=False)

    @classmethod
    def create(cls, now: datetime, life: timedelta) -> Self:
        """Return a new CA, which no client trusts yet."""
        # P-256: a handshake takes half the processor time of one with RSA of 2048 bits (172 to 369 µs).
        key, name = ec.generate_private_key(ec.SECP256R1()), _name("karta-interpreter authority")
        constraints = x509.BasicConstraints(ca=True, path_length=0)
        identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        builder = _builder(name, name, key.public_key(), now, now + life)
        return cls(_signed(builder, key, constraints, _usage("key_cert_sign"), identifier), key)

    @classmethod
    def load(cls, certificate: bytes, key: bytes, *, sources: Mapping[str, object]) -> Self:
        """Return the CA of a PEM certificate and its PEM key. Raises ValueError or ServeError if they do not match."""
        loaded = x509.load_pem_x509_certificate(certificate)
        private = _private_key(loaded, key, sources)
        if not isinstance(private, ec.EllipticCurvePrivateKey):
            raise ValueError("the key is not one for elliptic curves")  # noqa: TRY004 - the content is wrong
        return cls(loaded, private)

    @property
    def pem(self) -> bytes:
        """Return the certificate, which clients need to trust."""
        return self.certificate.public_bytes(Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        """Return the private key."""
        return _private_pem(self.key)

    def issue(self, names: Iterable[str], now: datetime, life: timedelta) -> Certificate:
        """Sign a certificate for names and addresses. It ends with its CA if the CA ends sooner."""
        key = ec.generate_private_key(ec.SECP256R1())
        end = min(now + life, self.certificate.not_valid_after_utc)
        leaf = _signed(
            _builder(_name("karta-interpreter"), self.certificate.subject, key.public_key(), now, end),
            self.key,
            x509.BasicConstraints(ca=False, path_length=None),
            _usage("digital_signature"),
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]),
            x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()),
            x509.SubjectAlternativeName(map(_general_name, names)),
        )
        return Certificate(
            chain=leaf.public_bytes(Encoding.PEM),
            key=_private_pem(key),
            names=names_of(leaf),
            not_after=leaf.not_valid_after_utc.timestamp(),
            authority=self.pem,
        )


def issued_at(certificate: x509.Certificate) -> datetime:
    """Return the time at which a CA signed a certificate, or itself, to the second."""
    # `_builder` dates each certificate back by that.
    return certificate.not_valid_before_utc + CLOCK_SKEW


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime, end: datetime
) -> x509.CertificateBuilder:
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key)
    return builder.serial_number(x509.random_serial_number()).not_valid_before(now - CLOCK_SKEW).not_valid_after(end)


def _signed(
    builder: x509.CertificateBuilder, key: ec.EllipticCurvePrivateKey, *extensions: x509.ExtensionType
) -> x509.Certificate:
    for extension in extensions:
        builder = builder.add_extension(extension, critical=isinstance(extension, _CRITICAL))
    return builder.sign(key, hashes.SHA256())


def _usage(usage: str) -> x509.KeyUsage:
    return x509.KeyUsage(**{name: name == usage for name in _USAGES})


def _general_name(name: str) -> x509.GeneralName:
    with suppress(ValueError):  # a name is not an address
        return x509.IPAddress(ipaddress.ip_address(name))
    if not _DNS_NAME.fullmatch(name):
        raise ServeError(
            f'"{name}" is neither a DNS name nor an IP address: letters, digits, - and _ between dots, and no port'
        )
    return x509.DNSName(name)


def _private_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
