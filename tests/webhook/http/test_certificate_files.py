"""Certificates in files: which are taken, and what is said about the others."""

import os
from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from karta_interpreter.base.errors import ServeError
from karta_interpreter.webhook.http.tls import CertificateFiles, Tls
from tests.webhook.http.pairs import Key, chain_pem, key_pem, new_key

KEY = new_key()


def files(folder: Path, chain: bytes, key: bytes) -> CertificateFiles:
    (folder / "tls.crt").write_bytes(chain)
    (folder / "tls.key").write_bytes(key)
    return CertificateFiles(folder / "tls.crt", folder / "tls.key")


@pytest.mark.parametrize(
    "make", [pytest.param(new_key, id="P-256"), pytest.param(lambda: rsa.generate_private_key(65537, 2048), id="RSA")]
)
def test_matching_pair_is_taken(tmp_path: Path, make: Callable[[], Key]) -> None:
    key = make()
    names = ("interpreter.karmada-system.svc", "localhost")
    source = files(tmp_path, chain_pem(key, names), key_pem(key))
    assert source.read().names == names
    assert Tls(source).certificate == source.read()


def test_chain_may_have_issuers_behind_leaf(tmp_path: Path) -> None:
    source = files(tmp_path, chain_pem(KEY, ("leaf",)) + chain_pem(new_key(), ("issuer",)), key_pem(KEY))
    assert source.read().names == ("leaf",)


@pytest.mark.parametrize(
    ("chain", "key", "said"),
    [
        pytest.param(chain_pem(KEY), key_pem(new_key()), "does not belong to the certificate in", id="mismatch"),
        pytest.param(chain_pem(new_key()) + chain_pem(KEY), key_pem(KEY),
            r"tls\.key belongs to certificate 2 in \S*tls\.crt, .*: put it before its CA$", id="a CA first"),
        pytest.param(chain_pem(KEY, life=timedelta(days=-1)), key_pem(KEY), r"expired at .* UTC: renew it",
            id="expired"),
        pytest.param(chain_pem(KEY, names=()), key_pem(KEY), "no subject alternative names", id="no names"),
        pytest.param(b"", key_pem(KEY), r"tls\.crt holds no PEM certificate: it is empty$", id="empty certificate"),
        pytest.param(b"junk", key_pem(KEY), r"no PEM certificate: it has no line -----BEGIN CERTIFICATE-----$",
            id="junk"),
        pytest.param(b64encode(chain_pem(KEY)), key_pem(KEY), "; `base64 -d` prints the PEM in it$", id="base64"),
        pytest.param(b"\x30\x82", key_pem(KEY), "; `openssl x509 -inform der` makes PEM of DER, ", id="DER"),
        pytest.param(chain_pem(KEY)[:300], key_pem(KEY), "no PEM certificate: .* is damaged or cut off$",
            id="half a certificate"),
        pytest.param(chain_pem(KEY), b"", r"tls\.key holds no PEM private key", id="empty key"),
        pytest.param(chain_pem(KEY), chain_pem(KEY), r"tls\.key holds no PEM private key", id="no key in the key"),
        pytest.param(key_pem(KEY), chain_pem(KEY),
            r"tls\.crt .*: it holds a private key, and \S*tls\.key holds a certificate: exchange the two$",
            id="swapped"),
        pytest.param(key_pem(KEY), key_pem(KEY), r"tls\.crt .*: it holds a private key$", id="the key twice"),
        pytest.param(chain_pem(KEY), key_pem(KEY, b"secret"), "is encrypted: give one without", id="encrypted"),
    ],
)  # fmt: skip
def test_other_pairs_are_refused_with_what_to_do(tmp_path: Path, chain: bytes, key: bytes, said: str) -> None:
    source = files(tmp_path, chain, key)
    with pytest.raises(ServeError, match=said):
        source.read()


def test_unreadable_file_is_named(tmp_path: Path) -> None:
    source = CertificateFiles(tmp_path / "none.crt", tmp_path / "none.key")
    with pytest.raises(ServeError, match=r"none\.crt: No such file or directory"):
        source.read()


def test_mounted_secret_is_followed_to_its_new_folder(tmp_path: Path) -> None:
    for version in ("first", "second"):
        (tmp_path / version).mkdir()
        files(tmp_path / version, chain_pem(KEY, (version,)), key_pem(KEY))
    (tmp_path / "..data").symlink_to("first")
    for name in ("tls.crt", "tls.key"):
        (tmp_path / name).symlink_to(f"..data/{name}")
    source = CertificateFiles(tmp_path / "tls.crt", tmp_path / "tls.key")
    assert source.read().names == ("first",)
    (tmp_path / "..tmp").symlink_to("second")
    os.replace(tmp_path / "..tmp", tmp_path / "..data")  # noqa: PTH105 - the very call that the kubelet makes
    assert source.read().names == ("second",)


def test_key_is_not_shown(tmp_path: Path) -> None:
    certificate = files(tmp_path, chain_pem(KEY), key_pem(KEY)).read()
    assert b"PRIVATE KEY" in certificate.key
    assert "PRIVATE KEY" not in repr(certificate)


def test_unchanged_pair_is_good_until_it_ends(tmp_path: Path) -> None:
    files(tmp_path, chain_pem(KEY), key_pem(KEY))
    now = [datetime.now(UTC)]
    source = CertificateFiles(tmp_path / "tls.crt", tmp_path / "tls.key", clock=lambda: now[0])
    certificate = source.read()
    assert source.read() == certificate
    now[0] = datetime.fromtimestamp(certificate.not_after, UTC)
    with pytest.raises(ServeError, match="expired"):
        source.read()
