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
        file = folder / "pair.pem"
        private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        file.write_bytes(private + certificate.public_bytes(Encoding.PEM))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context

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


def _name(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)
