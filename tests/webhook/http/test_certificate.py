"""Whether a pair can be served; what files may hold is in tests/webhook/http/test_certificate_files.py."""

import ipaddress
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID

from karta_interpreter.base.errors import ServeError
from karta_interpreter.webhook.http.certificate import Authority, Certificate, check_pair
from tests.support.rows import rows
from tests.webhook.http.pairs import Key, chain_pem, key_pem, new_key, with_unknown_curve

SOURCES = {"chain": "tls.crt", "key": "tls.key"}
NOW = datetime.now(UTC).replace(microsecond=0)
KEY = new_key()


def judged(chain: bytes, key: bytes, now: datetime | None = None) -> Certificate:
    return check_pair(chain, key, sources=SOURCES, now=now)


def leaf(*extensions: x509.ExtensionType, begin: datetime = NOW) -> bytes:
    """Return a certificate that somebody unknown has signed, for `KEY`."""
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "somebody")])
    builder = x509.CertificateBuilder().subject_name(x509.Name([])).issuer_name(name).public_key(KEY.public_key())
    builder = builder.serial_number(1).not_valid_before(begin).not_valid_after(begin + timedelta(days=2))
    for extension in extensions:
        builder = builder.add_extension(extension, critical=False)
    return builder.sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256()).public_bytes(Encoding.PEM)


def names(*each: x509.GeneralName) -> x509.SubjectAlternativeName:
    return x509.SubjectAlternativeName(each)


def test_certificate_names_and_end_are_read() -> None:
    addresses = [x509.IPAddress(ipaddress.ip_address(text)) for text in ("10.1.2.3", "fd00::1")]
    others = x509.RFC822Name("a@example.org"), x509.UniformResourceIdentifier("spiffe://a/b")
    chain = leaf(names(addresses[0], others[0], x509.DNSName("a.svc"), addresses[1], others[1], x509.DNSName("*.b")))

    pair = judged(chain, key_pem(KEY))

    assert pair.names == ("a.svc", "*.b", "10.1.2.3", "fd00::1")
    assert pair.not_after == (NOW + timedelta(days=2)).timestamp()
    assert (pair.chain, pair.key, pair.authority) == (chain, key_pem(KEY), b"")


@pytest.mark.parametrize("life", [timedelta(hours=1), timedelta(days=90)])
def test_issued_certificate_is_read_back(life: timedelta) -> None:
    issued = Authority.create(NOW, timedelta(days=100)).issue(["a.svc", "::1"], NOW, life)

    pair = judged(issued.chain, issued.key)

    assert (pair.names, pair.not_after) == (issued.names, issued.not_after)


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: ec.generate_private_key(ec.SECP384R1()), id="P-384"),
        pytest.param(lambda: rsa.generate_private_key(65537, 2048), id="RSA"),
    ],
)
def test_keys_of_other_kinds(make: Callable[[], Key]) -> None:
    key = make()
    assert judged(chain_pem(key), key_pem(key)).names == ("localhost",)


def test_behind_the_certificate_there_may_be_any_other() -> None:
    # Of the same name as its issuer, and not the one that signed it.
    stranger = chain_pem(new_key(), ("stranger",))

    assert judged(chain_pem(KEY) + stranger, key_pem(KEY)).names == ("localhost",)


@pytest.mark.parametrize(
    "now",
    [
        pytest.param(NOW - timedelta(days=30), id="one of the future: clocks differ"),
        pytest.param(NOW + timedelta(days=2, seconds=-1), id="the last second"),
    ],
)
def test_certificate_is_good_until_its_end(now: datetime) -> None:
    assert judged(leaf(names(x509.DNSName("a.svc"))), key_pem(KEY), now).names == ("a.svc",)


def test_certificate_is_refused_from_its_end_on() -> None:
    chain, now = leaf(names(x509.DNSName("a.svc"))), NOW + timedelta(days=2)
    with pytest.raises(ServeError, match=f"tls.crt expired at {now:%Y-%m-%d %H:%M} UTC: renew it"):
        judged(chain, key_pem(KEY), now)


@rows(
    ("chain", "key", "said"),
    [
        pytest.param(leaf(names(x509.DNSName("a")), x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH])),
            key_pem(KEY), "no client takes the certificate in tls.crt", id="a certificate for clients"),
        pytest.param(leaf(names(x509.RFC822Name("a@example.org"))), key_pem(KEY),
            "tls.crt has no subject alternative names", id="names that no server has"),
        pytest.param(chain_pem(KEY), b"-----BEGIN PRIVATE KEY-----\nanVuaw==\n-----END PRIVATE KEY-----\n",
            "tls.key holds no PEM private key", id="junk where a key should be"),
        pytest.param(chain_pem(KEY), with_unknown_curve(key_pem(KEY)),
            "tls.key holds no PEM private key that OpenSSL can read", id="a key of an unknown curve"),
        pytest.param(with_unknown_curve(chain_pem(KEY)), key_pem(KEY), "tls.crt is for a key that OpenSSL cannot read",
            id="a certificate for a key of an unknown curve"),
        pytest.param(chain_pem(KEY) + chain_pem(KEY)[:200], key_pem(KEY),
            "tls.crt holds no PEM certificate: one has no end", id="half an issuer"),
    ],
)  # fmt: skip
def test_unusable_pair_is_refused(chain: bytes, key: bytes, said: str) -> None:
    with pytest.raises(ServeError, match=said):
        judged(chain, key)


def test_key_of_another_kind_is_refused() -> None:
    with pytest.raises(ServeError, match=r"the key in tls\.key does not belong to the certificate in tls\.crt"):
        judged(chain_pem(KEY), key_pem(rsa.generate_private_key(65537, 2048)))


def test_ed25519_which_go_takes_too() -> None:
    key = ed25519.Ed25519PrivateKey.generate()
    now = datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(now).not_valid_after(now + timedelta(days=1))
    chain = builder.add_extension(names(x509.DNSName("a")), critical=False).sign(key, None).public_bytes(Encoding.PEM)

    assert judged(chain, key_pem(key)).names == ("a",)  # type: ignore[arg-type] # written as every other key
