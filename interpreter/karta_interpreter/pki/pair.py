"""Whether a certificate and a key can be served, and for whom: found out by a handshake with oneself.

A client that trusts nothing but the certificate gets through to a server that has the pair, if any client does; then
`ssl` tells what the certificate says. No byte leaves the process.
"""

import ipaddress
import os
import ssl
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import IO, Any

from karta_interpreter.errors import ServeError
from karta_interpreter.pki.certificate import Certificate
from karta_interpreter.pki.pem import read_certificates

_AT_ANY_TIME = 0x200000
"""X509_V_FLAG_NO_CHECK_TIME of OpenSSL's x509_vfy.h: what has expired is to be read, too."""

_TURNS = 3
"""How often each side of a handshake has something to say at most, after that of the other: twice with TLS 1.2."""

_STRANGERS = frozenset({"KEY_VALUES_MISMATCH", "KEY_TYPE_MISMATCH", "NO_CERTIFICATE_ASSIGNED"})
"""What OpenSSL says of a key that is not that of the certificate; the last one of a key of another kind."""


def check_pair(chain: bytes, key: bytes, *, sources: Mapping[str, object], now: datetime | None = None) -> Certificate:
    """Return the pair, or raise ServeError when Karmada would not accept it or OpenSSL could not load it.

    ``sources`` says where ``chain`` and ``key`` come from, for the message.
    """
    try:
        leaf = read_certificates(chain)[0]
    except ValueError as error:
        raise ServeError(f"{sources['chain']} holds no PEM certificate: {error}") from error
    said = _what_a_client_sees(leaf, key, sources)
    names = _names(said)
    if not names:
        raise ServeError(
            f"the certificate in {sources['chain']} has no subject alternative names, and Go clients read no "
            "others: issue it for the name in Karmada's webhook configuration, such as <service>.<namespace>.svc"
        )
    not_after = datetime.fromtimestamp(ssl.cert_time_to_seconds(said["notAfter"]), UTC)
    if not_after <= (now or datetime.now(UTC)):
        raise ServeError(f"the certificate in {sources['chain']} expired at {not_after:%Y-%m-%d %H:%M} UTC: renew it")
    return Certificate(chain, key, names, not_after.timestamp())


def load_pair(context: ssl.SSLContext, chain: bytes, key: bytes) -> None:
    """Have a context serve a pair; raises `ssl.SSLError` for one that OpenSSL does not take, ValueError for no key.

    Any other OSError says nothing about the pair: the machine has no room for it at the moment.
    """
    with _private_file(chain) as certificates, _private_file(key) as keys:
        context.load_cert_chain(_path(certificates), _path(keys), _refuse_to_ask)


def _what_a_client_sees(leaf: bytes, key: bytes, sources: Mapping[str, object]) -> dict[str, Any]:
    server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        load_pair(server, leaf, key)
    except ValueError as error:
        raise ServeError(f"the key in {sources['key']} is encrypted: give one without a password") from error
    except ssl.SSLError as error:
        raise ServeError(_complaint(error, sources)) from error
    client.check_hostname = False
    client.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN | _AT_ANY_TIME
    client.load_verify_locations(cadata=leaf.decode())
    try:
        return _shake_hands(server, client)
    except ssl.SSLCertVerificationError as error:
        raise ServeError(f"no client takes the certificate in {sources['chain']}: {error.verify_message}") from error
    except ssl.SSLError as error:
        raise ServeError(f"the certificate in {sources['chain']} cannot be served: {error.reason or error}") from error


def _complaint(error: ssl.SSLError, sources: Mapping[str, object]) -> str:
    if error.reason in _STRANGERS:
        return f"the key in {sources['key']} does not belong to the certificate in {sources['chain']}: give a pair"
    if error.library == "SSL" and error.reason:
        return f"OpenSSL does not take the certificate in {sources['chain']}: {_words(error.reason)}"
    return f"{sources['key']} holds no PEM private key that OpenSSL can read"


def _words(reason: str) -> str:
    return reason.lower().replace("_", " ")


def _shake_hands(server: ssl.SSLContext, client: ssl.SSLContext) -> dict[str, Any]:
    """Return what the client knows of the server's certificate then."""
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours = server.wrap_bio(there, back, server_side=True)
    theirs = client.wrap_bio(back, there)
    for side in _TURNS * (theirs, ours):
        with suppress(ssl.SSLWantReadError):
            side.do_handshake()
    return theirs.getpeercert() or {}


def _names(said: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the DNS names and then the addresses that a certificate is valid for."""
    names: tuple[tuple[str, str], ...] = said.get("subjectAltName", ())
    dns = (name for kind, name in names if kind == "DNS")
    addresses = (_address(name) for kind, name in names if kind == "IP Address")
    return (*dns, *addresses)


def _address(text: str) -> str:
    """Return an address as it is written: OpenSSL leaves nothing out.

    >>> _address("0:0:0:0:0:0:0:1")
    '::1'
    """
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return text


def _refuse_to_ask() -> str:
    raise ValueError("encrypted")


def _private_file(content: bytes) -> IO[bytes]:
    """Return a file for a key: `ssl` reads no other way. In memory where that is possible, so never on a disk."""
    # Closed by whoever asks for it.
    file: IO[bytes] = (
        os.fdopen(os.memfd_create("certificate"), "wb")
        if hasattr(os, "memfd_create")
        else tempfile.NamedTemporaryFile("wb")  # noqa: SIM115 - the same
    )
    file.write(content)
    file.flush()
    return file


def _path(file: IO[bytes]) -> str:
    return file.name if isinstance(file.name, str) else f"/proc/self/fd/{file.fileno()}"
