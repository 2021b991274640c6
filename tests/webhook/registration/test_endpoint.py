import base64
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding

from karta_interpreter.base.errors import ServeError
from karta_interpreter.webhook.registration.configuration import Endpoint, certificates, distrust
from tests.support.rows import rows
from tests.webhook.doctor.authority import Authority
from tests.webhook.http.pairs import chain_pem, key_pem, new_key

KEY = new_key()
ONE, OTHER = chain_pem(KEY, ("one",)), chain_pem(KEY, ("other",))
LEAF = Authority().issue("served")[0].public_bytes(Encoding.PEM)
V3, V9 = b"\xa0\x03\x02\x01\x02", b"\xa0\x03\x02\x01\x08"  # the field of the version, which counts from 0
DER = x509.load_pem_x509_certificate(ONE).public_bytes(Encoding.DER)


def block(content: bytes) -> bytes:
    return b"-----BEGIN CERTIFICATE-----\n%s-----END CERTIFICATE-----\n" % base64.encodebytes(content)


@pytest.fixture(scope="module")
def key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


@pytest.fixture(scope="module")
def authority(key: ec.EllipticCurvePrivateKey) -> bytes:
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test authority")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(now).not_valid_after(now + timedelta(days=1))
    return builder.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM)


@rows(
    ("text", "url"),
    [
        pytest.param("https://a.example", "https://a.example/interpret", id="no path: ours"),
        pytest.param("https://a.example:8443/", "https://a.example:8443/interpret", id="a bare slash is not a path"),
        pytest.param("https://a.example/b/interpret", "https://a.example/b/interpret", id="a path behind a proxy"),
        pytest.param("https://[::1]:8443", "https://[::1]:8443/interpret", id="an IPv6 address"),
    ],
)
def test_urls(text: str, url: str) -> None:
    assert Endpoint.of_url(text).client_config() == {"url": url}


@rows(
    ("text", "reason"),
    [
        pytest.param("http://a.example", "https://HOST", id="no TLS"),
        pytest.param("a.example:8443", "https://HOST", id="no scheme"),
        pytest.param("https://", "https://HOST", id="no host"),
        pytest.param("https://a.example:x", "not a URL", id="no port"),
        pytest.param("https://0.0.0.0", "every address of a machine", id="every address"),
        pytest.param("https://::1:8443", "an IPv6 address in brackets", id="an IPv6 address"),
        pytest.param("https://me:secret@a.example", "no user", id="a user"),
        pytest.param("https://a.example\n", "no blank", id="the end of a line"),
        pytest.param(" https://a.example", "no blank", id="a blank before it"),
        pytest.param("https://a.example/b c", "no blank", id="a blank in the path"),
        pytest.param("https://a.example?x=1", "query", id="a query"),
        pytest.param("https://a.example/interpret#x", "fragment", id="a fragment"),
    ],
)
def test_urls_that_karmada_refuses(text: str, reason: str) -> None:
    with pytest.raises(ServeError, match=reason):
        Endpoint.of_url(text)


@pytest.mark.parametrize(
    ("text", "port"),
    [
        pytest.param("system/interpreter", 443, id="the port of https"),
        pytest.param("system/interpreter:8443", 8443, id="another port"),
    ],
)
def test_services(text: str, port: int) -> None:
    service = {"namespace": "system", "name": "interpreter", "port": port, "path": "/interpret"}

    assert Endpoint.of_service(text).client_config() == {"service": service}


@rows("text", ["interpreter", "a/b/c", "/b", "a/", "a/B", "a/b:0", "a/b:65536", "a/b:x", "a/b.svc"])
def test_reference_that_is_not_a_service_is_refused(text: str) -> None:
    with pytest.raises(ServeError, match="namespace/name"):
        Endpoint.of_service(text)


def test_endpoint_has_name_for_certificate() -> None:
    assert Endpoint.of_url("https://a.example:8443/interpret").server_name == "a.example"
    assert Endpoint.of_url("https://[::1]:8443").server_name == "::1"
    assert Endpoint.of_service("system/interpreter:8443").server_name == "interpreter.system.svc"


def test_bundle_is_part_of_the_configuration() -> None:
    config = Endpoint.of_url("https://a.example", ONE + OTHER).client_config()

    assert base64.b64decode(config["caBundle"]) == ONE + OTHER


def test_without_a_bundle_the_roots_of_the_system_are_trusted() -> None:
    assert "caBundle" not in Endpoint.of_url("https://a.example").client_config()


@rows(
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
def test_certificates_are_what_is_between_the_lines(tmp_path: Path, text: bytes, found: list[bytes]) -> None:
    (tmp_path / "ca.pem").write_bytes(text)
    assert certificates(tmp_path / "ca.pem") == b"".join(found)


@rows(
    ("text", "reason"),
    [
        pytest.param(key_pem(KEY), "it holds a private key", id="only a key"),
        pytest.param(ONE[:-30], "is damaged or cut off", id="the only one is cut off"),
        pytest.param(ONE + OTHER[:300], "one has no end", id="the second one is cut off"),
        pytest.param(ONE + block(b"junk"), "is damaged or cut off", id="the second one is not a certificate"),
        pytest.param(block(DER + b"more"), "is damaged or cut off", id="something behind it"),
        pytest.param(block(DER[:-5]), "is damaged or cut off", id="its end is missing"),
        pytest.param(block(DER.replace(V3, V9, 1)), "is damaged or cut off", id="a version that X.509 has not"),
        pytest.param(block(b""), "is damaged or cut off", id="nothing between the lines"),
        pytest.param(ONE.replace(b"M", "ü".encode(), 1), "is damaged or cut off", id="no ASCII"),
    ],
)
def test_text_without_certificates_is_refused(tmp_path: Path, text: bytes, reason: str) -> None:
    (tmp_path / "ca.pem").write_bytes(text)
    with pytest.raises(ServeError, match=rf"ca\.pem holds no PEM certificate: .*{reason}"):
        certificates(tmp_path / "ca.pem")


@pytest.mark.parametrize(
    ("name", "trusted", "doubt"),
    [
        pytest.param("one", ONE, "", id="its name and its CA"),
        pytest.param("one", b"", "", id="a CA of the system"),
        pytest.param("two", ONE, "the certificate is valid for one, and Karmada expects two: issue one for it",
            id="another name"),
        pytest.param("one", None,
            "the CA file does not have CN=test, which signed the certificate: put its certificate there",
            id="another CA"),
        pytest.param("served", LEAF,
            "the next one, because the CA file has a server's certificate, and not its CA: put the CA's there",
            id="no CA"),
    ],
)  # fmt: skip
def test_certificate_that_karmada_rejects_is_known_before_a_call(
    name: str, trusted: bytes | None, doubt: str, authority: bytes
) -> None:
    served = LEAF if trusted == LEAF else ONE
    assert distrust(served, authority if trusted is None else trusted, name) == doubt
