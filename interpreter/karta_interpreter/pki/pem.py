"""The certificates in PEM text."""

import re
import ssl

_BEGIN = b"-----BEGIN CERTIFICATE-----"
_BLOCK = re.compile(rb"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)


def read_certificates(pem: bytes) -> list[bytes]:
    """Each certificate in a text, as PEM and nothing around it; raises ValueError for none, and for a broken one."""
    blocks = _BLOCK.findall(pem)
    if not blocks:
        raise ValueError("there is none")
    if len(blocks) < pem.count(_BEGIN):
        raise ValueError("one has no end")
    return [_certificate(block) for block in blocks]


def _certificate(block: bytes) -> bytes:
    try:
        der = ssl.PEM_cert_to_DER_cert(block.decode("ascii"))
        # What knows how to read it: a context that nobody uses.
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=der)
    except ssl.SSLError as error:
        raise ValueError(f"one is broken: {error.reason or error.args[-1]}") from error
    except ValueError as error:  # no ASCII, no base64, nothing in it
        raise ValueError(f"one is broken: {error}") from error
    return ssl.DER_cert_to_PEM_cert(der).encode()
