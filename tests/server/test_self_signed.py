import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography import x509
from cryptography.x509.verification import PolicyBuilder, Store

from karta_interpreter.errors import ServeError
from karta_interpreter.server import self_signed
from karta_interpreter.server.self_signed import SelfSignedCertificates

NAME = "interpreter.karmada-system.svc"


@pytest.mark.parametrize("name", [NAME, "localhost"])
def test_a_client_that_trusts_the_authority_trusts_the_server(name: str) -> None:
    certificate = SelfSignedCertificates([NAME]).read()
    authority = x509.load_pem_x509_certificate(certificate.authority)
    # An independent verifier with the rules of the web: name constraints, key usages, dates, signature.
    verifier = PolicyBuilder().store(Store([authority])).build_server_verifier(x509.DNSName(name))
    assert len(verifier.verify(x509.load_pem_x509_certificate(certificate.chain), [])) == 2


def test_names_and_addresses_are_told_apart() -> None:
    certificate = SelfSignedCertificates(["10.1.2.3", "*.example.org", "localhost"]).read()
    leaf = x509.load_pem_x509_certificate(certificate.chain)
    names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["*.example.org", "localhost"]
    assert [str(each) for each in names.get_values_for_type(x509.IPAddress)] == ["10.1.2.3", "127.0.0.1", "::1"]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("münchen", id="what is not ASCII is written as xn--"),
        pytest.param("", id="nothing"),
        pytest.param("two words", id="a space"),
        pytest.param("a\nb", id="a line"),
        pytest.param("10.0.0.0/8", id="a network"),
        pytest.param("https://a.svc", id="a URL"),
        pytest.param("a.svc:8443", id="a port"),
        pytest.param("a..svc", id="a part that is empty"),
        pytest.param("*", id="no client takes it for anything"),
        pytest.param("a.*.svc", id="a star is the first part"),
        pytest.param("a" * 64 + ".svc", id="a part that is too long"),
        pytest.param(".".join(["a" * 50] * 6), id="too long as a whole"),
        pytest.param("half \udcff", id="an argument that is no UTF-8"),
    ],
)
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(ServeError) as raised:
        SelfSignedCertificates([name])
    assert str(raised.value).startswith(f'"{name}" is neither a DNS name nor an IP address')


def test_the_certificate_is_renewed_in_time_by_the_same_authority(monkeypatch: pytest.MonkeyPatch) -> None:
    source = SelfSignedCertificates()
    first = source.read()
    assert source.read() is first
    assert first.not_after - time.time() == pytest.approx(90 * 86400, abs=60)
    later = datetime.now(UTC) + timedelta(days=61)

    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            del tz
            return later

    monkeypatch.setattr(self_signed, "datetime", Clock)
    renewed = source.read()
    assert renewed.not_after == pytest.approx((later + timedelta(days=90)).timestamp(), abs=1)
    assert renewed.authority == first.authority
    assert renewed.key != first.key
