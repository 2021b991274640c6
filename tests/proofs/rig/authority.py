"""Certificates: one authority signs for every server and client of the control plane."""

from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_DAY = timedelta(days=1)
_LOOPBACK = IPv4Address("127.0.0.1")


class Authority:
    """An authority that lives for a day, with its files in one folder."""

    def __init__(self, folder: Path, subject: str = "karta-interpreter e2e") -> None:
        self.folder = folder
        folder.mkdir()
        self._key = ec.generate_private_key(ec.SECP256R1())
        name = _name(subject)
        builder = _builder(name, name, self._key).add_extension(x509.BasicConstraints(True, None), critical=True)
        self._certificate = builder.sign(self._key, hashes.SHA256())
        self.file = folder / "ca.crt"
        self.file.write_bytes(self.bundle)

    @property
    def bundle(self) -> bytes:
        """The certificate of the authority, PEM."""
        return self._certificate.public_bytes(serialization.Encoding.PEM)

    def server(self, stem: str, *names: str, life: timedelta = _DAY) -> tuple[Path, Path]:
        """Write a certificate for ``names`` and 127.0.0.1, and its key; return their files."""
        return self._issue(stem, _name(stem), ExtendedKeyUsageOID.SERVER_AUTH, names, life)

    def client(self, stem: str, user: str, group: str) -> tuple[Path, Path]:
        """Write a certificate for a user in a group, and its key; return their files."""
        return self._issue(stem, _name(user, group), ExtendedKeyUsageOID.CLIENT_AUTH)

    def signing_key(self, stem: str) -> tuple[Path, Path]:
        """Write a key pair for service account tokens; return the files of the public and the private key."""
        key = ec.generate_private_key(ec.SECP256R1())
        public, private = self.folder / f"{stem}.pub", self.folder / f"{stem}.key"
        encoding, form = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        public.write_bytes(key.public_key().public_bytes(encoding, form))
        private.write_bytes(_key_pem(key))
        return public, private

    def _issue(
        self,
        stem: str,
        subject: x509.Name,
        usage: x509.ObjectIdentifier,
        names: tuple[str, ...] = (),
        life: timedelta = _DAY,
    ) -> tuple[Path, Path]:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(subject, self._certificate.subject, key, life)
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        if names:
            alternatives = [*(x509.DNSName(name) for name in names), x509.IPAddress(_LOOPBACK)]
            builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        certificate = builder.sign(self._key, hashes.SHA256())
        chain, private = self.folder / f"{stem}.crt", self.folder / f"{stem}.key"
        private.write_bytes(_key_pem(key))
        chain.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        return chain, private


def _name(user: str, group: str = "") -> x509.Name:
    parts = [x509.NameAttribute(NameOID.COMMON_NAME, user)]
    if group:
        parts.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, group))
    return x509.Name(parts)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, life: timedelta = _DAY
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _DAY)
        .not_valid_after(now + life)
    )


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
