"""When certificates and CAs are renewed, and in which order, so that every client trusts the served certificate.

A certificate is renewed when two thirds of its lifetime have passed. A CA gets a successor while it still outlives two
certificates. The successor is trusted at once, and signs the next certificate that is due once it has been published
for a third of a certificate's lifetime and Karmada is known to trust it. The key of the old CA is then deleted; the old
CA is trusted until it expires, and by then all certificates that it signed have expired.

With certificates of 90 days, a CA has a successor 180 days before its end, which is trusted for 30 to 90 days before it
signs.

A `Keyring` is what is kept in a Secret, so that all replicas serve the same certificate and trust outlives them:

==================================  ==================================================================================
Key of the Secret                   Value, PEM
==================================  ==================================================================================
``tls.crt``, ``tls.key``            the certificate that is served
``ca.crt``                          every CA that clients have to trust
``authority.crt``, ``.key``         the CA that signs
``successor.crt``, ``.key``         the one that will sign next, while there is one
==================================  ==================================================================================

A CA that signs no more has no key here; its certificate stays in ``ca.crt`` until it ends.
"""

import ipaddress
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.serialization import Encoding

from karta_interpreter.errors import ServeError
from karta_interpreter.server.certificate import Authority, Certificate, check_pair, issued_at

_CHAIN, _KEY, _BUNDLE = "tls.crt", "tls.key", "ca.crt"
_ROLES = ("authority", "successor")
KEYS = frozenset({_CHAIN, _KEY, _BUNDLE, *(f"{role}.{part}" for role in _ROLES for part in ("crt", "key"))})
"""The keys of the Secret that are ours."""

_RENEWED_AFTER, _SPREAD = 2 / 3, 1 / 20
_PUBLISHED_FOR = 1 / 3
_URGENT = 1 / 10
_OUTLIVES = 2


@dataclass(frozen=True, slots=True)
class Keyring:
    """Authorities with their keys, oldest first, ``former`` ones without, and the certificate that is served."""

    authorities: tuple[Authority, ...] = ()
    former: tuple[x509.Certificate, ...] = ()
    pair: Certificate | None = None

    @property
    def trusted(self) -> tuple[x509.Certificate, ...]:
        """The CAs that may have signed what some replica serves, or will serve."""
        return (*(authority.certificate for authority in self.authorities), *self.former)

    @property
    def bundle(self) -> bytes:
        """The same, PEM: the ``caBundle`` for Karmada's webhook configuration."""
        return b"".join(certificate.public_bytes(Encoding.PEM) for certificate in self.trusted)

    @property
    def leaf(self) -> x509.Certificate | None:
        """The certificate that is served."""
        return x509.load_pem_x509_certificate(self.pair.chain) if self.pair else None

    @property
    def served(self) -> Certificate | None:
        """The pair together with everything that its clients have to trust."""
        return replace(self.pair, authority=self.bundle) if self.pair else None

    def data(self) -> dict[str, bytes]:
        """The content of the Secret."""
        content = {_BUNDLE: self.bundle}
        if self.pair:
            content |= {_CHAIN: self.pair.chain, _KEY: self.pair.key}
        for role, authority in zip(_ROLES, self.authorities, strict=False):
            content |= {f"{role}.crt": authority.pem, f"{role}.key": authority.key_pem}
        return content


def read_keyring(data: Mapping[str, bytes], now: datetime) -> tuple[Keyring, tuple[str, ...]]:
    """Return what can be used of the content of a Secret, and what is wrong with the rest."""
    problems: list[str] = []
    authorities = tuple(_authorities(data, problems))
    if not authorities:
        problems.append("authority.crt and authority.key are missing")
    bundle: list[x509.Certificate] = []
    try:
        bundle = x509.load_pem_x509_certificates(data.get(_BUNDLE, b""))
    except ValueError as error:
        problems.append(f"{_BUNDLE} holds no PEM certificates: {error}")
    own = {authority.certificate for authority in authorities}
    keyring = Keyring(authorities, tuple(certificate for certificate in bundle if certificate not in own))
    try:
        pair = check_pair(data.get(_CHAIN, b""), data.get(_KEY, b""), sources={"chain": _CHAIN, "key": _KEY}, now=now)
    except ServeError as error:
        problems.append(str(error))
    else:
        if signer_of(served := replace(keyring, pair=pair)):
            return served, tuple(problems)
        problems.append(f"no certificate in {_BUNDLE} has signed {_CHAIN}")
    return keyring, tuple(problems)


def signer_of(keyring: Keyring) -> x509.Certificate | None:
    """Return the authority that signed what is served, if it is trusted."""
    leaf = keyring.leaf
    return next((each for each in keyring.trusted if leaf and _has_signed(each, leaf)), None)


def _authorities(data: Mapping[str, bytes], problems: list[str]) -> Iterator[Authority]:
    for role in _ROLES:
        certificate, key = data.get(f"{role}.crt"), data.get(f"{role}.key")
        if certificate is None and key is None:
            continue
        try:
            yield Authority.load(certificate or b"", key or b"")
        except ValueError as error:
            problems.append(f"{role}.crt and {role}.key are no authority: {error}")


def _has_signed(authority: x509.Certificate, leaf: x509.Certificate) -> bool:
    try:
        leaf.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


@dataclass(frozen=True, slots=True)
class Rotation:
    """Certificates for ``names`` that live for ``life``, signed by authorities that live for ``authority_life``.

    ``haste``, from 0 to 1, is by chance: replicas differ in it, so that one renews, a little before two thirds of a
    life, and the others see that it has. ``is_trusted`` returns whether clients trust a CA (PEM).
    """

    names: tuple[str, ...]
    life: timedelta
    authority_life: timedelta
    haste: float = 0.0
    is_trusted: Callable[[bytes], bool] = lambda _: True

    @property
    def _wanted(self) -> set[str]:
        return {_canonical(name) for name in self.names}

    def turn(self, keyring: Keyring, now: datetime) -> Keyring:
        """Return the keyring as it should be now; the same one when nothing is due."""
        keyring = self._with_authority(_without_ended(keyring, now), now)
        if not self._is_due(keyring, now):
            return keyring
        signer = self._signer(keyring, now)
        return self._signed(keyring, signer, now) if signer else keyring

    def _with_authority(self, keyring: Keyring, now: datetime) -> Keyring:
        """Publish a new CA when there is none that outlives the next certificates."""
        *others, newest = keyring.authorities or (None,)
        if newest and (others or _left(newest.certificate, now) >= _OUTLIVES * self.life):
            return keyring
        return replace(keyring, authorities=(*keyring.authorities, Authority.create(now, self.authority_life)))

    def _is_due(self, keyring: Keyring, now: datetime) -> bool:
        leaf = keyring.leaf
        if not keyring.pair or not leaf:
            return True
        if not self._wanted <= {*keyring.pair.names}:
            return True
        life = leaf.not_valid_after_utc - issued_at(leaf)
        return now - issued_at(leaf) >= life * (_RENEWED_AFTER - self.haste * _SPREAD)

    def _signer(self, keyring: Keyring, now: datetime) -> Authority | None:
        """Return the CA that signs the next certificate; None to wait until clients trust it."""
        newest = keyring.authorities[-1]
        if now - issued_at(newest.certificate) >= self.life * _PUBLISHED_FOR and self.is_trusted(newest.pem):
            return newest
        first = keyring.authorities[0]
        signs_already = keyring.pair is None or first.certificate == signer_of(keyring)
        if signs_already and _left(first.certificate, now) >= self.life * _PUBLISHED_FOR:
            return first
        leaf = keyring.leaf
        is_urgent = leaf is None or _left(leaf, now) < (leaf.not_valid_after_utc - issued_at(leaf)) * _URGENT
        # Nothing better can be had any more.
        return newest if is_urgent else None

    def _signed(self, keyring: Keyring, signer: Authority, now: datetime) -> Keyring:
        """Return the keyring with a new certificate; CAs older than its signer lose their keys."""
        kept = keyring.authorities[keyring.authorities.index(signer) :]
        retired = tuple(each.certificate for each in keyring.authorities if each not in kept)
        return Keyring(kept, (*retired, *keyring.former), signer.issue(self._names(keyring), now, self.life))

    def _names(self, keyring: Keyring) -> tuple[str, ...]:
        """Return the names to sign for.

        Replicas may disagree during an upgrade: the names of another one are left out only with the next regular
        renewal, else they would go on signing against each other.
        """
        others = keyring.pair.names if keyring.pair and not self._wanted <= {*keyring.pair.names} else ()
        return tuple(dict.fromkeys([*map(_canonical, self.names), *others]))


def _without_ended(keyring: Keyring, now: datetime) -> Keyring:
    authorities = tuple(each for each in keyring.authorities if _left(each.certificate, now) > timedelta(0))
    former = tuple(each for each in keyring.former if _left(each, now) > timedelta(0))
    pair = keyring.pair if keyring.pair and keyring.pair.not_after > now.timestamp() else None
    changed = Keyring(authorities, former, pair)
    return keyring if changed == keyring else changed


def _left(certificate: x509.Certificate, now: datetime) -> timedelta:
    return certificate.not_valid_after_utc - now


def _canonical(name: str) -> str:
    """Return a name as certificates spell it.

    >>> _canonical("FD00::01"), _canonical("Karta.example.com")
    ('fd00::1', 'Karta.example.com')
    """
    try:
        return str(ipaddress.ip_address(name))
    except ValueError:
        return name
