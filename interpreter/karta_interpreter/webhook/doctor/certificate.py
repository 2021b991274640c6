"""A server's certificate, as a Go client checks it (``crypto/x509``)."""

import base64
import binascii
import ssl
from collections.abc import Iterator
from datetime import datetime, timedelta

from cryptography import x509

from karta_interpreter.base.findings import listed
from karta_interpreter.base.k8s.pem import names_of
from karta_interpreter.webhook.doctor.result import CheckResult, ok, problem, warning
from karta_interpreter.webhook.registration.configuration import covers
from karta_interpreter.webhook.settings import option

_CHECK = "certificate"
_URGENT, _SOON = timedelta(days=7), timedelta(days=30)
# A certificate that lives for days is renewed with hours left. Renewal happens with a third of the life left.
_URGENT_SHARE, _SOON_SHARE = 10, 3

# X509_V_ERR_* of OpenSSL (x509_vfy.h). The module ssl does not name them.
_DATES = frozenset({9, 10})
"""Results of OpenSSL's check: a certificate is not yet valid, or has expired."""
_UNKNOWN_CA = frozenset({2, 7, 18, 19, 20, 21, 27})
"""The issuer is missing or not trusted, or has only the same name, as after a CA was created again."""


def read_bundle(ca_bundle: str) -> str | CheckResult:
    """Return the PEM text of a ``caBundle``, or "" if it is empty and Karmada trusts the CAs of its own system."""
    if not ca_bundle:
        return ""
    try:
        pem = base64.b64decode(ca_bundle, validate=True)
        x509.load_pem_x509_certificates(pem)
    except (binascii.Error, ValueError):
        return problem(
            _CHECK,
            "caBundle holds no PEM certificate, so Karmada makes no call",
            "register the PEM certificate of the CA that signed the server's certificate, in base64",
        )
    return pem.decode("ascii", errors="ignore")  # comments may be in any language


def judge_names(leaf: x509.Certificate, server_name: str) -> Iterator[CheckResult]:
    """Check that the certificate is valid for the name that Karmada expects."""
    names = names_of(leaf)
    if any(covers(name, server_name) for name in names):
        return
    yield problem(
        _CHECK,
        f"it has no subject alternative names, and Karmada expects {server_name} among them"
        if not names and leaf.subject
        else f"it is valid for {listed(names) or 'no name at all'}, and Karmada expects {server_name}",
        f"serve one for {server_name} ({option('certificate-name')}), or register a name that it has",
    )


def judge_dates(leaf: x509.Certificate, now: datetime) -> Iterator[CheckResult]:
    """Check that the certificate is valid now and for a while."""
    begin, end = leaf.not_valid_before_utc, leaf.not_valid_after_utc
    life, remaining = end - begin, end - now
    expires = f"it expires at {_time(end)}"
    rows = (
        (now < begin, problem, f"it is not valid before {_time(begin)}", "check the clocks, or issue it again"),
        (end <= now, problem, f"it expired at {_time(end)}", "renew it; the server reads a new one without a restart"),
        (
            remaining < min(_URGENT, life / _URGENT_SHARE),
            problem,
            expires,
            "renew it now: the usual renewal has failed",
        ),
        (remaining < min(_SOON, life / _SOON_SHARE), warning, expires, "check that it is renewed"),
    )
    yield from [level(_CHECK, found, advice) for holds, level, found, advice in rows if holds][:1]


def judge_trust(
    error: ssl.SSLCertVerificationError | None, *, bundled: bool, leaf: x509.Certificate
) -> Iterator[CheckResult]:
    """Check that the chain leads to a registered CA. ``error`` comes from OpenSSL."""
    if error is None:
        return
    if error.verify_code in _UNKNOWN_CA:
        trusted = "the caBundle" if bundled else "the system's CAs, and no caBundle is registered"
        finding = f"its issuer {leaf.issuer.rfc4514_string() or 'without a name'} is not in {trusted}"
        advice = (
            f"register the certificate of its issuer as caBundle; with {option('register')} the server does so itself"
        )
        yield problem(_CHECK, finding, advice)
    elif error.verify_code in _DATES:
        yield problem(_CHECK, f"its chain: {error.verify_message}", "renew it with its issuer, and register that one")
    else:
        advice = "issue a certificate for servers, with a valid chain"
        yield problem(_CHECK, f"it is rejected: {error.verify_message}", advice)


def judge_certificate(
    leaf: x509.Certificate,
    server_name: str,
    error: ssl.SSLCertVerificationError | None,
    now: datetime,
    *,
    bundled: bool,
) -> list[CheckResult]:
    """Return all objections to a certificate, or a single ok."""
    dates = list(judge_dates(leaf, now))
    # OpenSSL stops at its first objection. If it objects to the leaf's dates, `judge_dates` has said more about them.
    about_dates = error is not None and error.verify_code in _DATES and any(dates)
    trust = judge_trust(None if about_dates else error, bundled=bundled, leaf=leaf)
    return [*judge_names(leaf, server_name), *dates, *trust] or [
        ok(_CHECK, f"it is trusted, valid for {server_name}, and expires at {_time(leaf.not_valid_after_utc)}")
    ]


def judge_unregistered(leaf: x509.Certificate, now: datetime) -> list[CheckResult]:
    """Return the objections to the dates of a certificate, and a warning that its registration was not read."""
    finding = (
        f"its names ({listed(names_of(leaf)) or 'none'}) and its issuer ({leaf.issuer.rfc4514_string() or 'unnamed'}) "
        "could not be compared, because the registration was not read"
    )
    return [*judge_dates(leaf, now), warning(_CHECK, finding, "run doctor again when it can read the registration")]


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
