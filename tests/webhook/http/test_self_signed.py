from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.x509.verification import PolicyBuilder, Store

from karta_interpreter.base.errors import ServeError
from karta_interpreter.webhook.http.tls import SelfSignedCertificates
from tests.support.rows import rows

NAME = "interpreter.karmada-system.svc"


@pytest.mark.parametrize("name", [NAME, "localhost"])
def test_client_that_trusts_authority_trusts_server(name: str) -> None:
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


@rows(
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
        pytest.param("half \udcff", id="an argument that is not UTF-8"),
    ],
)
def test_invalid_name_is_refused(name: str) -> None:
    with pytest.raises(ServeError) as raised:
        SelfSignedCertificates([name])
    assert str(raised.value).startswith(f'"{name}" is neither a DNS name nor an IP address')


async def test_certificate_is_renewed_in_time_by_same_authority() -> None:
    now = [datetime.now(UTC).replace(microsecond=0)]
    source = SelfSignedCertificates(clock=lambda: now[0])
    first = source.read()
    now[0] += timedelta(days=60)
    assert await source.fetch() is first
    assert first.not_after == (now[0] + timedelta(days=30)).timestamp()

    now[0] += timedelta(days=1)
    renewed = await source.fetch()
    assert renewed.not_after == (now[0] + timedelta(days=90)).timestamp()
    assert renewed.authority == first.authority
    assert renewed.key != first.key
    authority = x509.load_pem_x509_certificate(first.authority)
    for each in (first, renewed):
        x509.load_pem_x509_certificate(each.chain).verify_directly_issued_by(authority)


@rows("days", [-1, -3650, 3600, 3650, 3660])
def test_certificate_follows_clock_that_jumps_and_returns(days: int) -> None:
    true = datetime.now(UTC).replace(microsecond=0)
    now = [true]
    source = SelfSignedCertificates(clock=lambda: now[0])
    source.read()
    for now[0] in (true + timedelta(days=days), true):
        served = source.read()
        authority = x509.load_pem_x509_certificate(served.authority)
        at_that_time = PolicyBuilder().store(Store([authority])).time(now[0])
        verifier = at_that_time.build_server_verifier(x509.DNSName("localhost"))
        assert verifier.verify(x509.load_pem_x509_certificate(served.chain), [])
        assert source.read() is served


def test_key_is_not_shown() -> None:
    assert "PRIVATE" not in repr(SelfSignedCertificates().read())
