"""When a certificate and its authority are renewed, on a clock that a test turns."""

from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from cryptography import x509
from cryptography.x509.verification import PolicyBuilder, Store

from karta_interpreter.webhook.http.certificate import Authority
from karta_interpreter.webhook.http.certificate_secret import Keyring, Rotation, read_keyring, signer_of
from tests.support.rows import rows
from tests.webhook.http.pairs import with_unknown_curve
from tests.webhook.http.secrets import START

NAME = "interpreter.karmada-system.svc"
DAY = timedelta(days=1)
NOTHING = Keyring()


def rotation(**settings: Any) -> Rotation:
    """Certificates of 90 days by authorities of 720."""
    plan: dict[str, Any] = {"names": (NAME,), "life": 90 * DAY, "authority_life": 720 * DAY}
    return Rotation(**plan | settings)


def is_accepted(keyring: Keyring, bundle: bytes, now: datetime) -> bool:
    """Whether a client that trusts the bundle takes the certificate, by an independent verifier."""
    store = Store(x509.load_pem_x509_certificates(bundle))
    verifier = PolicyBuilder().store(store).time(now).build_server_verifier(x509.DNSName(NAME))
    try:
        return keyring.leaf is not None and bool(verifier.verify(keyring.leaf, []))
    except x509.verification.VerificationError:
        return False


def passing(plan: Rotation, days: int, start: Keyring = NOTHING) -> list[tuple[int, Keyring]]:
    """The keyring as it was written, with the day of each writing."""
    written = [(0, plan.turn(start, START))]
    for day in range(1, days):
        keyring = plan.turn(written[-1][1], START + day * DAY)
        if keyring != written[-1][1]:
            written.append((day, keyring))
    return written


def test_certificate_is_renewed_at_two_thirds_of_its_life() -> None:
    (_, first), (day, second) = passing(rotation(), 61)
    assert day == 60
    assert second.bundle == first.bundle
    assert second.pair != first.pair
    assert is_accepted(second, first.bundle, START + 60 * DAY)


@pytest.mark.slow
def test_ten_years_pass_and_nobody_is_served_what_it_does_not_trust() -> None:
    written = passing(rotation(), 3650)
    authorities = {each for _, keyring in written for each in keyring.trusted}
    # 720 days, of which the last 180 belong to the successor.
    assert len(authorities) == 7
    for (_, before), (day, after) in pairwise(written):
        now = START + day * DAY
        # A replica that has not heard of it yet, and a client that has or has not.
        assert is_accepted(before, after.bundle, now)
        assert is_accepted(after, before.bundle, now)
    ends = [day for day, _ in written[1:]] + [3650]
    for (_, keyring), end in zip(written, ends, strict=True):
        assert is_accepted(keyring, keyring.bundle, START + end * DAY)


def test_successor_is_trusted_long_before_it_signs() -> None:
    known: dict[x509.Certificate, int] = {}
    signed: dict[x509.Certificate, int] = {}
    # A successor comes on day 536, and a certificate is due on day 540: too soon for it.
    for day, keyring in passing(rotation(authority_life=715 * DAY), 3650):
        for each in keyring.trusted:
            known.setdefault(each, day)
        signed.setdefault(signer_of(keyring) or pytest.fail("nobody trusted"), day)
    first, *others = signed
    assert signed[first] == known[first] == 0
    assert len(others) >= 5
    assert all(signed[each] - known[each] >= 30 for each in others)


def test_former_authority_has_no_key_and_is_trusted_until_it_ends() -> None:
    written = passing(rotation(), 721)
    retired = [(day, keyring) for day, keyring in written if keyring.former]
    (first, *_), last = written, retired[-1][1]
    assert retired[0][1].former == tuple(each.certificate for each in first[1].authorities)
    assert [day for day, keyring in written if not keyring.former and day > retired[0][0]] == [720]
    assert last.former


def test_successor_unknown_to_karmada_signs_last() -> None:
    first = rotation().turn(NOTHING, START)
    plan = rotation(is_trusted=lambda pem: pem == first.bundle)
    signers = [(day, signer_of(keyring)) for day, keyring in passing(plan, 721, first)]
    # A certificate that the authority signs on day 660 ends with it on day 720. The renewal waits a tenth of 60 days.
    assert min(day for day, signer in signers if signer != first.authorities[0].certificate) == 715


def test_certificate_that_is_dated_in_the_future_is_signed_again() -> None:
    ahead = rotation().turn(rotation().turn(NOTHING, START), START + 540 * DAY)
    back = rotation().turn(ahead, START)
    assert ahead.leaf.not_valid_before_utc > START + DAY  # type: ignore[union-attr] # a certificate that was signed
    assert is_accepted(back, ahead.bundle, START)


WHOLE = rotation().turn(NOTHING, START)
OTHER = rotation().turn(NOTHING, START)


@rows(
    ("changes", "keeps_pair", "keeps_authority"),
    [
        pytest.param({}, True, True, id="nothing is wrong"),
        pytest.param({"tls.key": b"junk"}, False, True, id="the key is junk: signed again by the same authority"),
        pytest.param({"tls.crt": None}, False, True, id="no certificate: signed again by the same authority"),
        pytest.param({"authority.key": b"junk"}, True, False, id="no key of the authority: a successor, no haste"),
        pytest.param({"authority.key": with_unknown_curve(WHOLE.authorities[0].key_pem)}, True, False,
            id="the key of the authority is of an unknown curve"),
        pytest.param({"authority.crt": with_unknown_curve(WHOLE.authorities[0].pem)}, True, False,
            id="so is its certificate"),
        pytest.param({"tls.crt": with_unknown_curve(WHOLE.data()["tls.crt"])}, False, True, id="so is the one served"),
        pytest.param({"authority.key": None, "ca.crt": with_unknown_curve(WHOLE.bundle)}, False, False,
            id="so is the bundle"),
        pytest.param({"ca.crt": b"junk"}, True, True, id="the bundle is junk: written anew"),
        pytest.param({"authority.key": None, "ca.crt": None}, False, False, id="signed by nobody known: all anew"),
        pytest.param({"authority.key": OTHER.authorities[0].key_pem}, True, False, id="the key of another one is none"),
    ],
)  # fmt: skip
def test_broken_certificate_is_made_anew_and_the_rest_kept(
    changes: dict[str, bytes | None], keeps_pair: bool, keeps_authority: bool
) -> None:
    data = {key: value for key, value in (WHOLE.data() | changes).items() if value is not None}
    salvaged, complaints = read_keyring(data, START)
    assert bool(complaints) == bool(changes)
    mended = rotation().turn(salvaged, START)
    assert (mended.pair and mended.pair.chain) == (WHOLE.pair and WHOLE.pair.chain) or not keeps_pair
    assert (mended.authorities[0].certificate == WHOLE.authorities[0].certificate) == keeps_authority
    assert is_accepted(mended, mended.bundle, START)
    if keeps_pair or keeps_authority:
        assert is_accepted(mended, WHOLE.bundle, START)
    assert read_keyring(mended.data(), START)[1] == ()


def test_authority_that_replaces_one_without_key_does_not_sign_before_clients_know_it() -> None:
    due = START + 60 * DAY
    salvaged, _ = read_keyring(WHOLE.data() | {"authority.key": b"junk"}, due)
    mended = rotation().turn(salvaged, due)
    assert len(mended.trusted) == 2
    assert is_accepted(mended, WHOLE.bundle, due)


def test_expired_certificate_is_replaced_by_its_authority() -> None:
    later = START + 100 * DAY
    keyring, complaints = read_keyring(WHOLE.data(), later)
    assert len(complaints) == 1
    assert "tls.crt expired at 2030-04-01 00:00 UTC" in complaints[0]
    assert is_accepted(rotation().turn(keyring, later), WHOLE.bundle, later)


def test_everything_that_has_ended_is_made_anew() -> None:
    later = START + 1000 * DAY
    keyring = rotation().turn(read_keyring(WHOLE.data(), later)[0], later)
    assert keyring.trusted != WHOLE.trusted
    assert is_accepted(keyring, keyring.bundle, later)
    assert len(keyring.trusted) == 1


@rows(
    ("names", "is_new"),
    [
        pytest.param((NAME,), False, id="the same"),
        pytest.param((NAME, "fd00::1"), True, id="one more"),
        pytest.param((), False, id="fewer: the rest goes with the next renewal"),
    ],
)
def test_names_are_signed_for_when_they_are_missing(names: tuple[str, ...], is_new: bool) -> None:
    keyring = rotation(names=names).turn(WHOLE, START + DAY)
    assert (keyring != WHOLE) == is_new
    assert keyring.pair
    assert {NAME, *names} == {*keyring.pair.names}


def test_address_with_scope_is_signed_once() -> None:
    plan = rotation(names=("fe80::1%eth0",))
    assert len(passing(plan, 2)) == 1


def test_replicas_of_two_minds_do_not_sign_against_each_other() -> None:
    one, other = rotation(names=("a.example", "FD00::01")), rotation(names=("b.example",))
    keyring = one.turn(other.turn(one.turn(NOTHING, START), START), START)
    written = keyring
    for plan in (other, one, other, one):
        keyring = plan.turn(keyring, START + DAY)
    assert keyring == written


def test_private_key_is_not_shown() -> None:
    authority = Authority.create(START, DAY)
    for thing in (authority, WHOLE, WHOLE.served):
        assert "PRIVATE" not in repr(thing)
        assert "PrivateKey" not in repr(thing)
