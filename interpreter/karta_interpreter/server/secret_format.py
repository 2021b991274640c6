"""What is kept of a self-signed certificate, so that all replicas serve the same one and trust outlives them.

==================================  ==================================================================================
Key of the Secret                   Value, PEM
==================================  ==================================================================================
``tls.crt``, ``tls.key``            the certificate that is served
``ca.crt``                          every authority that clients have to trust
``authority.crt``, ``.key``         the authority that signs
``successor.crt``, ``.key``         the one that will sign next, while there is one
==================================  ==================================================================================

An authority that signs no more has no key here; its certificate stays in ``ca.crt`` until it ends.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.serialization import Encoding

from karta_interpreter.errors import ServeError
from karta_interpreter.server.authority import Authority
from karta_interpreter.server.certificate import Certificate, check_pair

_CHAIN, _KEY, _BUNDLE = "tls.crt", "tls.key", "ca.crt"
_ROLES = ("authority", "successor")
KEYS = frozenset({_CHAIN, _KEY, _BUNDLE, *(f"{role}.{part}" for role in _ROLES for part in ("crt", "key"))})
"""The keys of the Secret that are ours."""


@dataclass(frozen=True, slots=True)
class Keyring:
    """Authorities with their keys, oldest first, ``former`` ones without, and the certificate that is served."""

    authorities: tuple[Authority, ...] = ()
    former: tuple[x509.Certificate, ...] = ()
    pair: Certificate | None = None

    @property
    def trusted(self) -> tuple[x509.Certificate, ...]:
        """Everybody who may have signed what some replica serves, or will serve."""
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
    complaints: list[str] = []
    authorities = tuple(_authorities(data, complaints))
    own = {authority.certificate for authority in authorities}
    former = tuple(certificate for certificate in _bundle(data, complaints) if certificate not in own)
    if not authorities:
        complaints.append("authority.crt and authority.key are missing")
    keyring = Keyring(authorities, former)
    try:
        pair = check_pair(data.get(_CHAIN, b""), data.get(_KEY, b""), sources={"chain": _CHAIN, "key": _KEY}, now=now)
    except ServeError as error:
        complaints.append(str(error))
        return keyring, tuple(complaints)
    keyring = replace(keyring, pair=pair)
    if not signer_of(keyring):
        complaints.append(f"{_CHAIN} was signed by nobody in {_BUNDLE}")
        keyring = replace(keyring, pair=None)
    return keyring, tuple(complaints)


def signer_of(keyring: Keyring) -> x509.Certificate | None:
    """Return the authority that signed what is served, if it is trusted."""
    leaf = keyring.leaf
    return next((each for each in keyring.trusted if leaf and _has_signed(each, leaf)), None)


def _authorities(data: Mapping[str, bytes], complaints: list[str]) -> Iterable[Authority]:
    for role in _ROLES:
        certificate, key = data.get(f"{role}.crt"), data.get(f"{role}.key")
        if certificate is None and key is None:
            continue
        try:
            yield Authority.load(certificate or b"", key or b"")
        except ValueError as error:
            complaints.append(f"{role}.crt and {role}.key are no authority: {error}")


def _bundle(data: Mapping[str, bytes], complaints: list[str]) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(data.get(_BUNDLE, b""))
    except ValueError as error:
        complaints.append(f"{_BUNDLE} holds no PEM certificates: {error}")
        return []


def _has_signed(authority: x509.Certificate, leaf: x509.Certificate) -> bool:
    try:
        leaf.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True
