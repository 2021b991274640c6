"""Signing in another process; what is signed is judged in tests/server/test_self_signed.py."""

import subprocess
import sys
import time

import pytest
from cryptography import x509

from karta_interpreter.errors import ServeError
from karta_interpreter.pki import order
from karta_interpreter.pki.order import Order

DAY = 86400.0


def test_the_next_certificate_is_signed_by_the_same_authority() -> None:
    now = float(int(time.time()))
    certificate, following = Order(("a.svc",), now, DAY, 10 * DAY).signed()
    renewed, _ = following.signed()

    authority = x509.load_pem_x509_certificate(certificate.authority)
    for each in (certificate, renewed):
        x509.load_pem_x509_certificate(each.chain).verify_directly_issued_by(authority)
        assert (each.names, each.not_after) == (("a.svc",), now + DAY)
    assert authority.not_valid_after_utc.timestamp() == now + 10 * DAY
    assert renewed.authority == certificate.authority
    assert renewed.key != certificate.key


def test_a_key_is_not_shown() -> None:
    certificate, following = Order(("a.svc",), time.time(), DAY, DAY).signed()

    assert "PRIVATE" in following.authority_key
    assert "PRIVATE" not in repr(certificate) + repr(following)


@pytest.mark.parametrize(
    "program",
    [
        pytest.param((sys.executable, "-c", "raise SystemExit(3)"), id="it fails"),
        pytest.param((sys.executable, "-c", "import time; time.sleep(9)"), id="it takes too long"),
        pytest.param(("/nowhere/python",), id="it is not there"),
    ],
)
def test_a_process_that_does_not_sign_is_an_error(monkeypatch: pytest.MonkeyPatch, program: tuple[str, ...]) -> None:
    monkeypatch.setattr(order, "BARE", program)
    monkeypatch.setattr(order, "_SECONDS", 0.2)

    with pytest.raises(ServeError, match="no certificate can be signed") as raised:
        Order(("a.svc",), 0.0, DAY, DAY).signed()
    assert isinstance(raised.value.__cause__, OSError | subprocess.SubprocessError)
