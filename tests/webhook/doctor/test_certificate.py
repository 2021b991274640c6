import base64
import ssl
from datetime import UTC, datetime, timedelta

import pytest

from karta_interpreter.webhook.doctor.certificate import (
    judge_certificate,
    judge_dates,
    judge_names,
    judge_trust,
    read_bundle,
)
from karta_interpreter.webhook.doctor.result import CheckResult, Level
from tests.support.rows import rows
from tests.webhook.doctor.authority import DAY, Authority

HOUR = timedelta(hours=1)
AUTHORITY = Authority()


def objection(code: int) -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, "certificate verify failed")
    error.verify_code, error.verify_message = code, f"reason {code}"
    return error


@rows(
    ("names", "expected", "valid"),
    [
        pytest.param(["a.b.svc"], "a.b.svc", True, id="its name"),
        pytest.param(["x.test", "a.b.svc"], "a.b.svc", True, id="one of its names"),
        pytest.param(["A.B.svc"], "a.b.SVC.", True, id="upper case and a last dot do not count"),
        pytest.param(["a.b.svc.cluster.local"], "a.b.svc", False, id="a longer name"),
        pytest.param(["*.b.svc"], "a.b.svc", True, id="a star for the first label"),
        pytest.param(["*.svc"], "a.b.svc", False, id="a star for two labels"),
        pytest.param(["a.*.svc"], "a.b.svc", False, id="a star inside"),
        pytest.param(["127.0.0.1"], "127.0.0.1", True, id="an address"),
        pytest.param(["0:0::1"], "::1", True, id="an address written otherwise"),
        pytest.param(["127.0.0.2"], "127.0.0.1", False, id="another address"),
        pytest.param([], "test server", False, id="a common name is not a name"),
    ],
)
def test_names_count_as_they_do_in_go(names: list[str], expected: str, *, valid: bool) -> None:
    leaf, _ = AUTHORITY.issue(*names)

    assert bool(list(judge_names(leaf, expected))) is not valid


@rows(
    ("begin", "end", "level"),
    [
        pytest.param(-DAY, 90 * DAY, None, id="fresh"),
        pytest.param(-60 * DAY, 31 * DAY, None, id="a month left"),
        pytest.param(-335 * DAY, 29 * DAY, Level.WARNING, id="less than 30 days of a year"),
        pytest.param(-83 * DAY, 6 * DAY, Level.PROBLEM, id="less than 7 days"),
        pytest.param(-91 * DAY, -HOUR, Level.PROBLEM, id="expired"),
        pytest.param(HOUR, 90 * DAY, Level.PROBLEM, id="not yet valid"),
        pytest.param(-HOUR, 23 * HOUR, None, id="one that lives for a day, in its youth"),
        pytest.param(-18 * HOUR, 6 * HOUR, Level.WARNING, id="a third of its day left: it should have been renewed"),
        pytest.param(-22 * HOUR, 2 * HOUR, Level.PROBLEM, id="a tenth of its day left"),
    ],
)
def test_how_long_it_is_valid(begin: timedelta, end: timedelta, level: Level | None) -> None:
    leaf, _ = AUTHORITY.issue("a.test", begin=begin, end=end)

    levels = [result.level for result in judge_dates(leaf, datetime.now(UTC))]

    assert levels == ([level] if level else [])


@rows(
    ("code", "bundled", "found"),
    [
        pytest.param(20, True, "its issuer CN=test authority is not in the caBundle", id="unknown issuer"),
        pytest.param(7, True, "its issuer CN=test authority is not in the caBundle", id="another one of that name"),
        pytest.param(19, True, "is not in the caBundle", id="self-signed root in the chain"),
        pytest.param(
            18, False, "is not in the system's CAs, and no caBundle is registered", id="self-signed, no bundle"
        ),
        pytest.param(26, True, "it is rejected: reason 26", id="not for servers"),
        pytest.param(10, True, "its chain: reason 10", id="an expired issuer"),
    ],
)
def test_why_it_is_not_trusted(code: int, found: str, *, bundled: bool) -> None:
    leaf, _ = AUTHORITY.issue("a.test")

    (result,) = judge_trust(objection(code), bundled=bundled, leaf=leaf)

    assert result.level is Level.PROBLEM
    assert found in result.found


def test_everything_wrong_is_said_at_once_and_nothing_twice() -> None:
    leaf, _ = AUTHORITY.issue("b.test", begin=-DAY, end=-HOUR)

    results = judge_certificate(leaf, "a.test", objection(10), datetime.now(UTC), bundled=True)

    assert [result.found.split(" ")[1] for result in results] == ["is", "expired"]


def test_good_certificate_is_ok() -> None:
    leaf, _ = AUTHORITY.issue("a.test")

    (result,) = judge_certificate(leaf, "a.test", None, datetime.now(UTC), bundled=True)

    assert result.level is Level.OK
    assert result.found.startswith("it is trusted, valid for a.test, and expires at ")


@rows(
    ("bundle", "readable"),
    [
        pytest.param("", True, id="none"),
        pytest.param(AUTHORITY.bundle, True, id="a certificate"),
        pytest.param(AUTHORITY.pem, False, id="PEM without base64"),
        pytest.param(base64.b64encode(b"no certificate").decode(), False, id="something else"),
    ],
)
def test_bundle_that_karmada_cannot_read_is_a_problem(bundle: str, *, readable: bool) -> None:
    assert isinstance(read_bundle(bundle), CheckResult) is not readable
