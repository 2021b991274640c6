"""Where Karmada connects to for a webhook, and which name it then expects there.

``pkg/resourceinterpreter/customized/webhook/serviceresolvers.go`` and ``k8s.io/apiserver/pkg/util/webhook``.
"""

from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from karta_interpreter.doctor.result import Result, problem
from karta_interpreter.doctor.webhooks import HTTPS, Client, Service
from karta_interpreter.k8s import edit
from karta_interpreter.k8s.values import Object

_CHECK = "address"
_ROUTED = ("ClusterIP", "NodePort", "LoadBalancer")


@dataclass(frozen=True, slots=True)
class Address:
    """What is dialled; ``server_name`` is what the certificate must be valid for, ``path`` where calls are posted.

    ``reason`` is the way from the registration to it, ``advice`` what to check when nothing answers.
    """

    host: str
    port: int
    server_name: str
    path: str
    reason: str = ""
    advice: str = ""

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    def dialled_at(self, other: "Address") -> "Address":
        """The same server, reached at another host and port, such as a forwarded one."""
        reason = f"{self.reason}, but {other} was given to dial"
        return replace(self, host=other.host, port=other.port, reason=reason, advice="")


def address_of(client: Client, service: Object | None = None) -> Address | Result:
    """Where a webhook is; ``service`` is the object that it refers to, None where karmada-apiserver has none.

    A Result is the reason why Karmada cannot resolve it.
    """
    if client.service is None:
        return _of_url(client.url)
    if client.url:
        return _wrong(f"clientConfig has both the url {client.url} and a service", "keep one of them")
    return _of_service(client.service, service)


def check_url(url: str) -> str:
    """Why Karmada would not call a URL, empty when it would.

    >>> check_url("http://localhost")
    '"http://localhost" is no URL that Karmada calls: write https://HOST[:PORT][/PATH]'
    """
    address = _of_url(url)
    return f"{address.found}: {address.advice}" if isinstance(address, Result) else ""


def _of_url(url: str) -> Address | Result:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or HTTPS
    except ValueError as error:
        return _wrong(f'"{url}" is no URL: {error}', "write https://HOST[:PORT][/PATH]")
    if parts.scheme != "https" or not host:
        return _wrong(f'"{url}" is no URL that Karmada calls', "write https://HOST[:PORT][/PATH]")
    if "@" in parts.netloc or "?" in url or "#" in url:
        return _wrong(f'"{url}" has a user, a query or a fragment', "take it out; Karmada refuses it")
    path = parts.path.rstrip("/") or "/"
    return Address(host, port, host, path, f"{url} is registered", "check that the host of the URL is the right one")


def _of_service(reference: Service, service: Object | None) -> Address | Result:
    name = f"{reference.namespace}/{reference.name}"
    server_name = f"{reference.name}.{reference.namespace}.svc"
    path = "/" + reference.path.strip("/")
    external = f"{server_name}.cluster.local"
    if service is None:
        reason = f"karmada-apiserver has no Service {name}, so the name is resolved by DNS"
        advice = f"unless Karmada runs in the same cluster, create there a Service {name}, ExternalName {external}"
        return Address(server_name, reference.port, server_name, path, reason, advice)
    kind = edit.get(service, ("spec", "type"), "ClusterIP")
    if kind == "ExternalName":
        host = edit.get(service, ("spec", "externalName"))
        reason, advice = f"Service {name} is an ExternalName", f"check its externalName {host}"
        return Address(str(host), reference.port, server_name, path, reason, advice)
    if kind not in _ROUTED:
        return _wrong(f"Service {name} is of the unknown type {kind}", "make it an ExternalName")
    return _of_cluster_ip(reference, service, server_name, path)


def _of_cluster_ip(reference: Service, service: Object, server_name: str, path: str) -> Address | Result:
    name = f"{reference.namespace}/{reference.name}"
    host = edit.get(service, ("spec", "clusterIP"))
    if not host or host == "None":
        advice = "give it a clusterIP, or make it an ExternalName; Karmada cannot dial a headless Service"
        return _wrong(f"Service {name} in karmada-apiserver is headless", advice)
    listed = edit.get(service, ("spec", "ports"))
    ports = [edit.get(port, ("port",)) for port in listed] if isinstance(listed, list) else []
    if reference.port not in ports:
        found = f"Service {name} has no port {reference.port}, it has {', '.join(map(str, ports)) or 'none'}"
        return _wrong(found, "register one of its ports, or add this one")
    reason = f"Service {name} in karmada-apiserver has this clusterIP"
    advice = f"nothing routes a clusterIP of karmada-apiserver: make it an ExternalName {server_name}.cluster.local"
    return Address(str(host), reference.port, server_name, path, reason, advice)


def _wrong(found: str, advice: str) -> Result:
    return problem(_CHECK, found, advice)
