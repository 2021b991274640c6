import base64

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from karta_interpreter.pki.pem import read_certificates
from tests.server.pairs import chain_pem, key_pem, new_key

KEY = new_key()
ONE, OTHER = chain_pem(KEY, ("one",)), chain_pem(KEY, ("other",))
DER = x509.load_pem_x509_certificate(ONE).public_bytes(Encoding.DER)


def block(content: bytes) -> bytes:
    return b"-----BEGIN CERTIFICATE-----\n%s-----END CERTIFICATE-----\n" % base64.encodebytes(content)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param(ONE, [ONE], id="one"),
        pytest.param(ONE + OTHER + ONE, [ONE, OTHER, ONE], id="several, in their order"),
        pytest.param("# für uns\n".encode() + ONE, [ONE], id="a comment in any language"),
        pytest.param(key_pem(KEY) + ONE + b"rest", [ONE], id="no key, and nothing behind"),
        pytest.param(ONE.replace(b"\n", b"\r\n"), [ONE], id="lines as Windows ends them"),
        pytest.param(block(DER), [ONE], id="lines of another length"),
    ],
)
def test_certificates_are_what_is_between_the_lines(text: bytes, found: list[bytes]) -> None:
    assert read_certificates(text) == found


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param(b"", "there is none", id="empty"),
        pytest.param(key_pem(KEY), "there is none", id="only a key"),
        pytest.param(ONE[:-30], "there is none", id="the only one is cut off"),
        pytest.param(ONE + OTHER[:300], "one has no end", id="the second one is cut off"),
        pytest.param(ONE + block(b"junk"), "one is broken", id="the second one is no certificate"),
        pytest.param(block(DER + b"more"), "one is broken", id="something behind it"),
        pytest.param(block(DER[:-5]), "one is broken", id="its end is missing"),
        pytest.param(block(b""), "one is broken", id="nothing between the lines"),
        pytest.param(ONE.replace(b"M", "ü".encode(), 1), "one is broken", id="no ASCII"),
    ],
)
def test_what_holds_no_certificates_is_refused(text: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        read_certificates(text)
