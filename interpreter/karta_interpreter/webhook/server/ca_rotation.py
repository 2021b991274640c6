"""When certificates and CAs are renewed, and in which order, so that every client trusts the served certificate.

The rules, and the keys of the Secret in which all replicas keep a `Keyring`, are in docs/server.md. With certificates
of 90 days, a CA has a successor 180 days before its end, which is trusted for 30 to 90 days before it signs.
"""

import ipaddress
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding

from karta_interpreter.base.errors import ServeError
from karta_interpreter.webhook.server.certificate import Authority, Certificate, check_pair, issued_at

_CHAIN, _KEY, _BUNDLE = "tls.crt", "tls.key", "ca.crt"
_ROLES = ("authority", "successor")
KEYS = frozenset({_CHAIN, _KEY, _BUNDLE, *(f"{role}.{part}" for role in _ROLES for part in ("crt", "key"))})
"""The keys of the Secret that are ours."""

# All in lives of a certificate.
_RENEWED_AFTER = 2 / 3
# `is_trusted` knows the callers that are registered; any other client has so long to read a new CA.
_PUBLISHED_FOR = 1 / 3
# With less left, a CA that some client may not know yet is better than a certificate that expires.
_URGENT = 1 / 10
# Time for one more certificate of the old CA, which ends before the CA does, while its successor becomes known.
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
    bundle: list[x509.Certificate] = []
    try:
        bundle = x509.load_pem_x509_certificates(data.get(_BUNDLE, b""))
    except ValueError:
        problems.append(f"{_BUNDLE} holds no PEM certificates")
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
    if leaf := keyring.leaf:
        for each in keyring.trusted:
            with suppress(ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm):
                leaf.verify_directly_issued_by(each)
                return each
    return None


def _authorities(data: Mapping[str, bytes], problems: list[str]) -> Iterator[Authority]:
    for role in _ROLES:
        files = f"{role}.crt", f"{role}.key"
        # The first CA has to be there; a successor is there for some time only.
        if role == _ROLES[0] or data.keys() & {*files}:
            try:
                yield Authority.load(*(data.get(file, b"") for file in files))
            except ValueError as error:
                problems.append(f"{' and '.join(files)} are not an authority: {error}")


@dataclass(frozen=True, slots=True)
class Rotation:
    """Certificates for ``names`` that live for ``life``, signed by authorities that live for ``authority_life``.

    ``is_trusted`` returns whether clients trust a CA (PEM).
    """

    names: tuple[str, ...]
    life: timedelta
    authority_life: timedelta
    is_trusted: Callable[[bytes], bool] = lambda _: True

    def turn(self, keyring: Keyring, now: datetime) -> Keyring:
        """Return the keyring as it should be now; an equal one when nothing is due."""
        keyring = self._with_authority(_without_ended(keyring, now), now)
        if not self._is_due(keyring, now):
            return keyring
        signer = self._signer(keyring, now)
        return self._signed(keyring, signer, now) if signer else keyring

    def _with_authority(self, keyring: Keyring, now: datetime) -> Keyring:
        """Publish a new CA when there is none that outlives the next certificates."""
        *others, newest = keyring.authorities or (None,)
        # With two CAs the newer one is the successor already.
        if newest and (others or _left(newest.certificate, now) >= _OUTLIVES * self.life):
            return keyring
        return replace(keyring, authorities=(*keyring.authorities, Authority.create(now, self.authority_life)))

    def _is_due(self, keyring: Keyring, now: datetime) -> bool:
        leaf = keyring.leaf
        if not leaf or not self._has_names(keyring):
            return True
        if now < leaf.not_valid_before_utc:  # a clock that was wrong has dated it
            return True
        life = leaf.not_valid_after_utc - issued_at(leaf)
        return now - issued_at(leaf) >= life * _RENEWED_AFTER

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

    def _has_names(self, keyring: Keyring) -> bool:
        return keyring.pair is not None and {*map(_canonical, self.names)} <= {*keyring.pair.names}

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
        others = keyring.pair.names if keyring.pair and not self._has_names(keyring) else ()
        return tuple(dict.fromkeys([*map(_canonical, self.names), *others]))


def _without_ended(keyring: Keyring, now: datetime) -> Keyring:
    return Keyring(
        tuple(each for each in keyring.authorities if _left(each.certificate, now) > timedelta(0)),
        tuple(each for each in keyring.former if _left(each, now) > timedelta(0)),
        keyring.pair if keyring.pair and keyring.pair.not_after > now.timestamp() else None,
    )


def _left(certificate: x509.Certificate, now: datetime) -> timedelta:
    return certificate.not_valid_after_utc - now


def _canonical(name: str) -> str:
    """Return a name as certificates spell it: an address has no scope there.

    >>> _canonical("FD00::01"), _canonical("fe80::1%eth0"), _canonical("Karta.example.com")
    ('fd00::1', 'fe80::1', 'Karta.example.com')
    """
    try:
        return str(ipaddress.ip_address(name)).partition("%")[0]
    except ValueError:
        return name
