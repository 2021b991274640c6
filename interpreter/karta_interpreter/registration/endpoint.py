"""Where Karmada calls a server, and how it knows it."""

import base64
import re
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from karta_interpreter.errors import ServeError
from karta_interpreter.k8s.values import Object

PATH = "/interpret"
"""Where the server answers."""

_LABEL = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_SERVICE = re.compile(rf"(?P<namespace>{_LABEL})/(?P<name>{_LABEL})(:(?P<port>[0-9]{{1,5}}))?")


@dataclass(frozen=True, slots=True)
class Service:
    """A Service of the cluster that Karmada runs in."""

    namespace: str
    name: str
    port: int = 443


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A URL or a Service; ``ca_bundle`` is the PEM of what Karmada has to trust, empty for its system's roots."""

    at: str | Service
    ca_bundle: bytes = b""

    @classmethod
    def of_url(cls, url: str, ca_bundle: bytes = b"") -> Self:
        """The endpoint at a URL; one without a path gets `PATH`. Raises ServeError for what Karmada refuses.

        >>> Endpoint.of_url("https://interpreter.example.com:8443").at
        'https://interpreter.example.com:8443/interpret'
        """
        try:
            parts = urlsplit(url)
            _ = parts.port
        except ValueError as error:
            raise ServeError(f'"{url}" is not a URL: {error}') from error
        if parts.scheme != "https" or not parts.hostname:
            raise ServeError(f'"{url}" cannot be registered: Karmada calls https://HOST[:PORT][/PATH] only')
        if "@" in parts.netloc or "?" in url or "#" in url:
            raise ServeError(f'"{url}" cannot be registered: Karmada allows no user, query or fragment in it')
        return cls(url if parts.path.strip("/") else url.rstrip("/") + PATH, certificates(ca_bundle))

    @classmethod
    def of_service(cls, text: str, ca_bundle: bytes = b"") -> Self:
        """The endpoint of a Service, given as ``namespace/name[:port]``; raises ServeError when it is not.

        >>> Endpoint.of_service("karmada-system/karta-interpreter:8443").at
        Service(namespace='karmada-system', name='karta-interpreter', port=8443)
        """
        match = _SERVICE.fullmatch(text)
        port = int(match["port"] or 443) if match else 0
        if not match or not 0 < port < 2**16:
            raise ServeError(f'"{text}" is not a Service: write namespace/name or namespace/name:port')
        return cls(Service(match["namespace"], match["name"], port), certificates(ca_bundle))

    @property
    def server_name(self) -> str:
        """The name or address that the server's certificate has to carry.

        >>> Endpoint.of_service("karmada-system/karta-interpreter").server_name
        'karta-interpreter.karmada-system.svc'
        """
        if isinstance(self.at, Service):
            return f"{self.at.name}.{self.at.namespace}.svc"
        return urlsplit(self.at).hostname or ""

    def client_config(self) -> Object:
        """The ``clientConfig`` of a webhook."""
        trust = {"caBundle": base64.b64encode(self.ca_bundle).decode()} if self.ca_bundle else {}
        if isinstance(self.at, str):
            return {"url": self.at, **trust}
        service = {"namespace": self.at.namespace, "name": self.at.name, "port": self.at.port, "path": PATH}
        return {"service": service, **trust}


def certificates(pem: bytes) -> bytes:
    """The certificates in a PEM file and nothing else, above all no key; raises ServeError when there are none."""
    if not pem.strip():
        return b""
    try:
        found = x509.load_pem_x509_certificates(pem)
    except ValueError as error:
        raise ServeError(f"the CA bundle holds no PEM certificate: {error}") from error
    # A block without an end is skipped by the parser: a program may not have finished to write the file.
    if len(found) < pem.count(b"-----BEGIN CERTIFICATE-----"):
        raise ServeError("the CA bundle holds no PEM certificate: one has no end")
    return b"".join(certificate.public_bytes(Encoding.PEM) for certificate in found)
