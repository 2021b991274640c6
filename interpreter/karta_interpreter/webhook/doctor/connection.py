"""The address that Karmada dials for a webhook, the name that it expects there, and connections like Karmada's.

See ``pkg/resourceinterpreter/customized/webhook/serviceresolvers.go`` and ``k8s.io/apiserver/pkg/util/webhook``. Errors
of connections come from the operating system and OpenSSL. `karta_interpreter.webhook.doctor.endpoint` explains them.
"""

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from time import monotonic, perf_counter
from typing import Any, cast
from urllib.parse import quote

from cryptography import x509
from msgspec import Struct
from msgspec.structs import replace

from karta_interpreter.base.errors import ServeError
from karta_interpreter.base.k8s import Object
from karta_interpreter.engine.registered.interpreters import Client, Service
from karta_interpreter.webhook.doctor.result import CheckResult, problem
from karta_interpreter.webhook.registration.configuration import parts_of_url
from karta_interpreter.webhook.settings import option

SECONDS = 10.0
"""The time for each step: a connection, a handshake (Karmada allows the same time), and an exchange."""
_MAX_ANSWER = 1 << 20
_CHECK = "address"
_SAFE = "/%:@!$&'()*+,;=~"
"""The characters that are not escaped in a path. Like Go, this escapes all characters outside ASCII."""


class DialAddress(Struct, frozen=True):
    """A host and port to dial."""

    host: str
    port: int
    server_name: str
    """The name that must be in the certificate."""
    path: str
    """The path that calls are posted to."""
    reason: str = ""
    """How the registration leads to this address."""
    advice: str = ""
    """What to check if nothing answers."""

    def __str__(self) -> str:
        return f"{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    def dialled_at(self, other: "DialAddress") -> "DialAddress":
        """Return the same server at another host and port, for example a forwarded port."""
        reason = f"{self.reason}, but {other} was given to dial, with the path {self.path or '/'}"
        return replace(self, host=other.host, port=other.port, reason=reason, advice="")


class Reply(Struct, frozen=True):
    """An HTTP answer. ``seconds`` is the time from the first byte of the request to the end of the answer."""

    status: int
    body: bytes
    seconds: float


def address_of(client: Client, service: Object | None = None) -> DialAddress | CheckResult:
    """Return the address of a webhook.

    ``service`` is the Service that the webhook refers to, None if karmada-apiserver does not have it.

    A CheckResult says why Karmada cannot resolve it.
    """
    if client.service is None:
        try:
            host, port, path = parts_of_url(client.url)
        except ServeError as error:
            return problem(_CHECK, str(error), "write https://HOST[:PORT][/PATH]")
        path = quote(path.rstrip("/"), _SAFE) or "/"
        return DialAddress(
            host, port, host, path, f"{client.url} is registered", "check that the host of the URL is the right one"
        )
    if client.url:
        return problem(_CHECK, f"clientConfig has both the url {client.url} and a service", "keep one of them")
    return _of_service(client.service, service)


def _of_service(reference: Service, service: Object | None) -> DialAddress | CheckResult:
    name = f"Service {reference.namespace}/{reference.name}"
    external = f"ExternalName {reference.host}.cluster.local"
    spec = {} if service is None else service.get("spec") or {}
    kind, host, in_service = spec.get("type", "ClusterIP"), spec.get("clusterIP"), f"{name} in karmada-apiserver"
    if service is None:
        host = reference.host
        reason = f"karmada-apiserver has no {name}, so the name is resolved by DNS"
        advice = (
            f"correct the name ({option('service')}) or, unless Karmada runs in the same cluster, create there a "
            f"{name}, {external}"
        )
    elif kind == "ExternalName":
        host = spec.get("externalName")
        reason, advice = (
            f"{name} is an ExternalName",
            f"check its externalName {host}, and the port ({option('service')})",
        )
    elif kind not in ("ClusterIP", "NodePort", "LoadBalancer"):
        return problem(_CHECK, f"{name} is of the unknown type {kind}", "make it an ExternalName")
    elif not host or host == "None":
        advice = "give it a clusterIP, or make it an ExternalName; Karmada cannot dial a headless Service"
        return problem(_CHECK, f"{in_service} is headless", advice)
    elif reference.port not in (ports := [port["port"] for port in spec.get("ports") or ()]):
        return problem(
            _CHECK,
            f"{name} has no port {reference.port}, it has {', '.join(map(str, ports)) or 'none'}",
            "register one of its ports, or add this one",
        )
    else:
        reason = f"{in_service} has this clusterIP"
        advice = f"nothing routes a clusterIP of karmada-apiserver: make it an {external}"
    return DialAddress(str(host), reference.port, reference.host, "/" + reference.path.strip("/"), reason, advice)


def connect(address: DialAddress) -> None:
    """Open a TCP connection. Raises OSError, including TimeoutError."""
    with _connection(address):
        pass


def shake_hands(address: DialAddress) -> tuple[x509.Certificate, str]:
    """Return the certificate, without verifying it, and the TLS version.

    Raises OSError, including ssl.SSLError, and ValueError for a certificate that cannot be parsed.
    """
    # This needs its own connection: if verification fails, the module ssl does not return the certificate.
    with _connection(address, _unverified()) as connection:
        certificate = connection.getpeercert(binary_form=True) or b""
        return x509.load_der_x509_certificate(certificate), connection.version() or ""


def verify(address: DialAddress, ca_pem: str) -> ssl.SSLCertVerificationError | None:
    """Return OpenSSL's objection to the certificate chain, apart from the name in it.

    Raises OSError for any other failure.

    Without a PEM text, the system's CAs are trusted.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    # As in Go, a certificate in the bundle is trusted, whether or not it has an issuer.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    if ca_pem:
        context.load_verify_locations(cadata=ca_pem)
    else:
        context.load_default_certs()
    try:
        with _connection(address, context):
            return None
    except ssl.SSLCertVerificationError as error:
        return error


def ask(address: DialAddress, target: str, body: bytes | None = None) -> Reply:
    """GET a path, or POST a body to it. Raises OSError, also if the answer is not HTTP."""
    with _connection(address, _unverified()) as connection:
        # HTTPConnection would look the name up in DNS, so the connection to the address that Karmada dials is set by
        # hand.
        client = HTTPConnection(address.server_name, address.port)
        client.sock = connection
        headers = {"Accept": "application/json, */*", "Content-Type": "application/json", "Connection": "close"}
        started = perf_counter()
        try:
            client.request("GET" if body is None else "POST", target, body, headers)
            response = client.getresponse()
            # A server that is not ours may send without end.
            content = response.read(_MAX_ANSWER + 1)
        except HTTPException as error:
            raise ConnectionError(f"the answer is not HTTP: {type(error).__name__}") from error
        if len(content) > _MAX_ANSWER:
            raise ConnectionError("the answer is longer than any of ours")
        return Reply(response.status, content, perf_counter() - started)


class _Timed(ssl.SSLSocket):
    """Reads until a deadline. The timeout of a socket would begin anew with each byte that a server sends."""

    until = 0.0

    def read(self, *arguments: Any) -> Any:  # noqa: ANN401 - as its base has it
        self.settimeout(max(self.until - monotonic(), 0.001))
        return super().read(*arguments)


def _unverified() -> ssl.SSLContext:
    """Return a context for checks only, which never send secrets."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


@contextmanager
def _connection(address: DialAddress, context: ssl.SSLContext | None = None) -> Iterator[ssl.SSLSocket]:
    """Yield a connection, without TLS if there is no context."""
    try:
        with socket.create_connection((address.host, address.port), SECONDS) as plain:
            if context is None:
                yield cast("ssl.SSLSocket", plain)  # `connect` only opens and closes it
            else:
                context.sslsocket_class = _Timed
                with context.wrap_socket(plain, server_hostname=address.server_name) as secured:
                    cast("_Timed", secured).until = monotonic() + SECONDS
                    yield secured
    except UnicodeError as error:  # Python encodes a host name as IDNA before it asks for its address
        raise ConnectionError(f"this is not a host name: {error}") from error
