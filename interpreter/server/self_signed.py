"""Certificates that the server signs itself: to try it out, or where nobody issues certificates."""

import ipaddress
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from interpreter.errors import ServeError
from interpreter.server.certificate import Certificate

_LOCAL = ("localhost", "127.0.0.1", "::1")
_AUTHORITY_LIFE = timedelta(days=3650)
_LIFE = timedelta(days=90)
_CLOCK_SKEW = timedelta(hours=1)


class SelfSignedCertificates:
    """An authority that lives as long as the process, and certificates for ``names`` signed by it.

    The authority is the ``caBundle`` for Karmada's webhook configuration. Certificates are renewed when two thirds
    of their life have passed. Nothing is kept on disk.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = tuple(dict.fromkeys([*names, *_LOCAL]))
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._authority = self._sign_authority()
        self._current = self._issue(datetime.now(UTC))

    def read(self) -> Certificate:
        """Return the certificate to serve now."""
        now = datetime.now(UTC)
        if self._current.not_after - now.timestamp() < _LIFE.total_seconds() / 3:
            self._current = self._issue(now)
        return self._current

    def _sign_authority(self) -> x509.Certificate:
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "karta-interpreter authority")])
        identifier = x509.SubjectKeyIdentifier.from_public_key(self._key.public_key())
        builder = _builder(name, name, self._key.public_key(), datetime.now(UTC), _AUTHORITY_LIFE)
        return (
            builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(key_cert_sign=True), critical=True)
            .add_extension(identifier, critical=False)
            .sign(self._key, hashes.SHA256())
        )

    def _issue(self, now: datetime) -> Certificate:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "karta-interpreter")])
        authority_identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        leaf = (
            _builder(subject, self._authority.subject, key.public_key(), now, _LIFE)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(digital_signature=True), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(authority_identifier, critical=False)
            .add_extension(x509.SubjectAlternativeName(map(_general_name, self._names)), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        return Certificate(
            chain=leaf.public_bytes(Encoding.PEM),
            key=key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
            names=self._names,
            not_after=leaf.not_valid_after_utc.timestamp(),
            authority=self._authority.public_bytes(Encoding.PEM),
        )


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime, life: timedelta
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCK_SKEW)
        .not_valid_after(now + life)
    )


def _usage(*, digital_signature: bool = False, key_cert_sign: bool = False) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=digital_signature,
        key_cert_sign=key_cert_sign,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        pass
    try:
        return x509.DNSName(name)
    except ValueError as error:
        raise ServeError(f'"{name}" is neither a DNS name nor an IP address: {error}') from error
