"""An authority that signs what tests ask for."""

import base64
import ipaddress
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

DAY = timedelta(days=1)


class Authority:
    """Signs certificates for servers; its own is the ``caBundle``."""

    def __init__(self, name: str = "test authority") -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self.certificate = self._sign(self.name, self.key, (), begin=-DAY, end=3650 * DAY, ca=True)
        self.pem = self.certificate.public_bytes(Encoding.PEM).decode()
        self.bundle = base64.b64encode(self.pem.encode()).decode()

    def issue(
        self, *names: str, begin: timedelta = -DAY, end: timedelta = 90 * DAY
    ) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
        """A certificate valid from and until so long from now, and its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test server")])
        return self._sign(subject, key, names, begin=begin, end=end, ca=False), key

    def context(self, folder: Path, *names: str, begin: timedelta = -DAY, end: timedelta = 90 * DAY) -> ssl.SSLContext:
        """What a server with such a certificate speaks TLS with."""
        certificate, key = self.issue(*names, begin=begin, end=end)
        return _context(folder, key, certificate)

    def with_long_chain(self, folder: Path, length: int) -> ssl.SSLContext:
        """What a server that sends so many certificates of its authority speaks TLS with."""
        certificate, key = self.issue("localhost")
        return _context(folder, key, certificate, *[self.certificate] * length)

    def malformed(self, folder: Path) -> ssl.SSLContext:
        """What a server with a certificate that OpenSSL takes, and whose names cannot be parsed, speaks TLS with."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = x509.UnrecognizedExtension(x509.ObjectIdentifier("2.5.29.17"), b"\x30\x03\x82\x01\xff")
        now = datetime.now(UTC)
        certificate = (
            x509.CertificateBuilder(self.name, self.name, key.public_key(), 1, now - DAY, now + DAY)
            .add_extension(names, critical=False)
            .sign(self.key, hashes.SHA256())
        )
        return _context(folder, key, certificate)

    def _sign(
        self,
        subject: x509.Name,
        key: ec.EllipticCurvePrivateKey,
        names: tuple[str, ...],
        *,
        begin: timedelta,
        end: timedelta,
        ca: bool,
    ) -> x509.Certificate:
        now = datetime.now(UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self.name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + begin)
            .not_valid_after(now + end)
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        )
        if names:
            builder = builder.add_extension(x509.SubjectAlternativeName(map(_name, names)), critical=False)
        return builder.sign(self.key, hashes.SHA256())


def _context(folder: Path, key: ec.EllipticCurvePrivateKey, *chain: x509.Certificate) -> ssl.SSLContext:
    file = folder / "pair.pem"
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file.write_bytes(private + b"".join(each.public_bytes(Encoding.PEM) for each in chain))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


def _name(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)
