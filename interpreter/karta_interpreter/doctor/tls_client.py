"""Connections to a server, opened as Karmada opens them, and what was seen on them.

Errors are those of the operating system and of OpenSSL: they are what there is to judge.
"""

import asyncio
import io
import socket
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from typing import cast

from cryptography import x509

from karta_interpreter.doctor.address import Address

SECONDS = 10.0
"""The time for each connection; Karmada gives a handshake as much."""
_MAX_ANSWER = 1 << 20


@dataclass(frozen=True, slots=True)
class Handshake:
    """What a server shows when it is trusted blindly: its certificate and the TLS version."""

    leaf: x509.Certificate
    version: str


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP answer; ``seconds`` is from the last byte of the request to the end of the answer."""

    status: int
    body: bytes
    seconds: float


async def connect(address: Address) -> None:
    """Open a TCP connection; raises OSError, of which TimeoutError is one."""
    async with _connection(address, None):
        pass


async def shake_hands(address: Address) -> Handshake:
    """Fetch the certificate without verification; raises OSError, of which ssl.SSLError is one."""
    async with _connection(address, trusting_anybody()) as (_, writer):
        transport = cast("ssl.SSLObject", writer.get_extra_info("ssl_object"))
        certificate = transport.getpeercert(binary_form=True)
        if certificate is None:
            raise ssl.SSLError("the server has no certificate")
        return Handshake(x509.load_der_x509_certificate(certificate), transport.version() or "")


async def verify(address: Address, ca_pem: str) -> ssl.SSLCertVerificationError | None:
    """OpenSSL's objection to the certificate chain, apart from the name in it; raises OSError for any other failure."""
    try:
        async with _connection(address, trusting(ca_pem)):
            return None
    except ssl.SSLCertVerificationError as error:
        return error


async def ask(address: Address, target: str, body: bytes | None = None) -> Reply:
    """GET a path, or POST a body to it; raises OSError, also for an answer that is not HTTP."""
    async with _connection(address, trusting_anybody()) as (reader, writer):
        started = time.perf_counter()
        writer.write(_request(address, target, body))
        await writer.drain()
        content = await reader.read(_MAX_ANSWER)
        while more := await reader.read(_MAX_ANSWER):
            content += more
            if len(content) > _MAX_ANSWER:
                raise ConnectionError("the answer is longer than any of ours")
        return _reply(content, time.perf_counter() - started)


def trusting(ca_pem: str) -> ssl.SSLContext:
    """A context that trusts the certificates of a PEM text, or without one those of the system.

    As in Go, a certificate is trusted for being in the bundle, whether or not it has an issuer.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    if ca_pem:
        context.load_verify_locations(cadata=ca_pem)
    else:
        context.load_default_certs()
    return context


def trusting_anybody() -> ssl.SSLContext:
    """A context for looking only: nothing secret is sent with it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


@asynccontextmanager
async def _connection(
    address: Address, context: ssl.SSLContext | None
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    async with asyncio.timeout(SECONDS):
        name = address.server_name if context else None
        try:
            reader, writer = await asyncio.open_connection(
                address.host, address.port, ssl=context, server_hostname=name
            )
        except OSError:  # some of them are ValueErrors, too
            raise
        except ValueError as error:
            raise ConnectionError(f"this is no host name: {error}") from error
        try:
            yield reader, writer
        finally:
            writer.transport.abort()
            with suppress(OSError):
                await writer.wait_closed()


def _request(address: Address, target: str, body: bytes | None) -> bytes:
    lines = [f"Host: {address.server_name}:{address.port}", "Accept: application/json, */*", "Connection: close"]
    if body is None:
        return "\r\n".join([f"GET {target} HTTP/1.1", *lines, "", ""]).encode()
    lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([f"POST {target} HTTP/1.1", *lines, "", ""]).encode() + body


class _Bytes:
    """What `HTTPResponse` wants of a socket."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def makefile(self, *_: object) -> io.BytesIO:
        """The content as a file."""
        return io.BytesIO(self._content)


def _reply(content: bytes, seconds: float) -> Reply:
    response = HTTPResponse(cast("socket.socket", _Bytes(content)))
    try:
        response.begin()
        return Reply(response.status, response.read(), seconds)
    except HTTPException as error:
        raise ConnectionError(f"the answer is not HTTP: {type(error).__name__}") from error
