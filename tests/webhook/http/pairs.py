"""Certificates for tests, issued by nobody in particular."""

import base64
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

Key = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


def new_key() -> Key:
    return ec.generate_private_key(ec.SECP256R1())


def chain_pem(key: Key, names: tuple[str, ...] = ("localhost",), life: timedelta = timedelta(days=1)) -> bytes:
    """Return a certificate for a key that signs itself."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=10))
        .not_valid_after(now + life)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    )
    if names:
        alternatives = x509.SubjectAlternativeName([x509.DNSName(each) for each in names])
        builder = builder.add_extension(alternatives, critical=False)
    return builder.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM)


def key_pem(key: Key, password: bytes = b"") -> bytes:
    encryption = BestAvailableEncryption(password) if password else NoEncryption()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)


def with_unknown_curve(pem: bytes) -> bytes:
    """Return a certificate or a key of P-256 with another curve, which no program knows."""
    begin, *lines, end = pem.splitlines()
    der = base64.b64decode(b"".join(lines))
    curve = bytes.fromhex("06082a8648ce3d0301")  # of X9.62; 07 is P-256
    assert curve + b"\x07" in der
    return b"\n".join([begin, base64.b64encode(der.replace(curve + b"\x07", curve + b"\x77")), end, b""])
