"""A CA that signs certificates for servers."""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from karta_interpreter.errors import ServeError
from karta_interpreter.server.certificate import Certificate, names_of

_CLOCK_SKEW = timedelta(hours=1)
"""How far the clock of a client may be behind."""
_USAGES = (
    *("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement"),
    *("key_cert_sign", "crl_sign", "encipher_only", "decipher_only"),
)
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
        """A new CA, which no client trusts yet."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = _name("karta-interpreter authority")
        builder = _builder(name, name, key.public_key(), now, now + life)
        identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        return cls(
            _signed(builder, key, x509.BasicConstraints(ca=True, path_length=0), _usage("key_cert_sign"), identifier),
            key,
        )

    @classmethod
    def load(cls, certificate: bytes, key: bytes) -> Self:
        """The CA of a PEM certificate and its PEM key; raises ValueError when they are no pair."""
        loaded = x509.load_pem_x509_certificate(certificate)
        try:
            private = load_pem_private_key(key, password=None)
        except TypeError as error:
            raise ValueError("the key is encrypted") from error
        if not isinstance(private, ec.EllipticCurvePrivateKey):
            raise ValueError("the key is not one for elliptic curves")  # noqa: TRY004 - the content is wrong
        if private.public_key() != loaded.public_key():
            raise ValueError("the key does not belong to the certificate")
        return cls(loaded, private)

    @property
    def pem(self) -> bytes:
        """The certificate, which clients need to trust."""
        return self.certificate.public_bytes(Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        """The private key."""
        return _key_pem(self.key)

    def issue(self, names: Iterable[str], now: datetime, life: timedelta) -> Certificate:
        """Sign a certificate for names and addresses, which ends with its CA if that ends sooner."""
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
            key=_key_pem(key),
            names=names_of(leaf),
            not_after=leaf.not_valid_after_utc.timestamp(),
            authority=self.pem,
        )


def issued_at(certificate: x509.Certificate) -> datetime:
    """When a CA signed a certificate, or itself; to the second."""
    return certificate.not_valid_before_utc + _CLOCK_SKEW


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime, end: datetime
) -> x509.CertificateBuilder:
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key)
    builder = builder.serial_number(x509.random_serial_number())
    return builder.not_valid_before(now - _CLOCK_SKEW).not_valid_after(end)


def _signed(
    builder: x509.CertificateBuilder, key: ec.EllipticCurvePrivateKey, *extensions: x509.ExtensionType
) -> x509.Certificate:
    for extension in extensions:
        builder = builder.add_extension(extension, critical=isinstance(extension, _CRITICAL))
    return builder.sign(key, hashes.SHA256())


def _usage(usage: str) -> x509.KeyUsage:
    return x509.KeyUsage(**{each: each == usage for each in _USAGES})


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        pass
    if not _DNS_NAME.fullmatch(name):
        raise ServeError(
            f'"{name}" is neither a DNS name nor an IP address: it has letters, digits, - and _ between dots'
        )
    return x509.DNSName(name)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
