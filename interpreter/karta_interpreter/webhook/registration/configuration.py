"""The ResourceInterpreterWebhookConfiguration of a snapshot, and the endpoint in it that Karmada calls."""

import base64
import ipaddress
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from msgspec import Struct, structs

from karta_interpreter.base.errors import ServeError, SettingsError
from karta_interpreter.base.findings import Finding, warning
from karta_interpreter.base.k8s import GVK, Object
from karta_interpreter.base.karmada import API_VERSION
from karta_interpreter.definitions.karta import ROOT_KIND
from karta_interpreter.definitions.sources import Snapshot
from karta_interpreter.engine.registered.interpreters import Service
from karta_interpreter.engine.registered.operations import (
    ServedKind,
    are_safe,
    find_served,
    operations_for,
    revises_components,
    served_versions,
)
from karta_interpreter.engine.registered.pairs import Others
from karta_interpreter.webhook.registration.choice import EVERYTHING, Choice

PATH = "/interpret"
"""The path at which the server answers."""

_LABEL = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_SERVICE = re.compile(rf"(?P<namespace>{_LABEL})/(?P<name>{_LABEL})(:(?P<port>[0-9]{{1,5}}))?")


def parts_of_url(url: str) -> tuple[str, int, str]:
    """Return host, port and path of a URL. Raises ServeError for a URL that Karmada does not call.

    >>> parts_of_url("https://[::1]/interpret")
    ('::1', 443, '/interpret')
    """
    try:
        url_parts = urlsplit(url)
        port = url_parts.port or 443
    except ValueError as error:
        raise SettingsError(
            f'"{url}" is not a URL: {error}; write https://HOST[:PORT][/PATH], and an IPv6 address in brackets'
        ) from error
    everywhere = url_parts.hostname in ("0.0.0.0", "::")  # noqa: S104 - refused, and not listened on
    holds = {
        "it takes https://HOST[:PORT][/PATH] only": url_parts.scheme != "https" or not url_parts.hostname,
        "that is every address of a machine; write the one that reaches this server": everywhere,
        # `urlsplit` drops blanks, such as the line end of an environment variable. Karmada rejects them.
        "it allows no blank or control character": " " in url or not url.isprintable(),
        "it allows no user, query or fragment": "@" in url_parts.netloc or "?" in url or "#" in url,
    }
    if reason := next(filter(holds.get, holds), ""):
        raise SettingsError(f'Karmada cannot call "{url}": {reason}')
    return url_parts.hostname or "", port, url_parts.path


class Endpoint(Struct, frozen=True):
    """A URL or a Service. ``ca_bundle`` is the PEM that Karmada has to trust, empty for its system's roots.

    ``doubt`` is why Karmada would reject the certificate.
    """

    at: str | Service
    ca_bundle: bytes = b""
    doubt: str = ""

    @classmethod
    def of_url(cls, url: str, ca_bundle: bytes = b"") -> Self:
        """Return the endpoint at a URL, with `PATH` if the URL has no path. Raises ServeError if Karmada refuses it.

        >>> Endpoint.of_url("https://interpreter.example.com:8443").at
        'https://interpreter.example.com:8443/interpret'
        """
        _, _, path = parts_of_url(url)
        return cls(url if path.strip("/") else url.rstrip("/") + PATH, ca_bundle)

    @classmethod
    def of_service(cls, text: str, ca_bundle: bytes = b"") -> Self:
        """Return the endpoint of a Service, given as ``namespace/name[:port]``. Raises ServeError for any other form.

        >>> Endpoint.of_service("karmada-system/karta-interpreter:8443").at
        Service(namespace='karmada-system', name='karta-interpreter', port=8443, path='/interpret')
        """
        match = _SERVICE.fullmatch(text)
        port = int(match["port"] or 443) if match else 0
        if not match or not 0 < port < 2**16:
            form = "namespace/name or namespace/name:port, in small letters, without a domain, with a port up to 65535"
            raise SettingsError(f'"{text}" is not a Service: write {form}')
        return cls(Service(match["namespace"], match["name"], port, PATH), ca_bundle)

    @property
    def server_name(self) -> str:
        """Return the name or address that must be in the server's certificate.

        >>> Endpoint.of_service("karmada-system/karta-interpreter").server_name
        'karta-interpreter.karmada-system.svc'
        """
        return self.at.host if isinstance(self.at, Service) else urlsplit(self.at).hostname or ""

    def client_config(self) -> Object:
        """Return the ``clientConfig`` of a webhook."""
        trust = {"caBundle": base64.b64encode(self.ca_bundle).decode()} if self.ca_bundle else {}
        return {**({"url": self.at} if isinstance(self.at, str) else {"service": structs.asdict(self.at)}), **trust}


def covers(pattern: str, name: str) -> bool:
    """Return whether a name in a certificate is the expected one. A ``*`` stands for the first label only."""
    pattern, name = pattern.lower(), name.lower().rstrip(".")
    with suppress(ValueError):
        return pattern == str(ipaddress.ip_address(name))
    wildcard, _, domain = pattern.partition(".")
    first, _, parent = name.partition(".")
    return pattern == name or (wildcard == "*" and bool(first and domain) and domain == parent)


def distrust(chain: bytes, authorities: bytes, name: str) -> str:
    """Return why Karmada, if it trusts these authorities, rejects a server's certificate, now or when it is renewed.

    "" if it may accept it.
    """
    # See `certificates`.
    from karta_interpreter.base.k8s.pem import names_of, read_certificates  # noqa: PLC0415

    certificates = read_certificates(chain, "the chain")
    names = names_of(certificates[0])
    if not any(covers(own, name) for own in names):
        return f"the certificate is valid for {', '.join(names)}, and Karmada expects {name}: issue one for it"
    trusted = read_certificates(authorities, "the CA file") if authorities else ()
    issuers = {subject for certificate in certificates for subject in (certificate.issuer, certificate.subject)}
    if not trusted or issuers & {authority.subject for authority in trusted}:
        return without_ca(authorities) if trusted else ""
    issuer = certificates[-1].issuer.rfc4514_string()
    return f"the CA file does not have {issuer}, which signed the certificate: put its certificate there"


def without_ca(authorities: bytes) -> str:
    """Return why Karmada rejects the server's next certificate, if it trusts only the present one. "" for a CA."""
    from karta_interpreter.base.k8s.pem import has_authority, read_certificates  # noqa: PLC0415 - see `certificates`

    finding = "the next one, because the CA file has a server's certificate, and not its CA: put the CA's there"
    return "" if has_authority(read_certificates(authorities, "the CA file")) else finding


def certificates(path: Path) -> bytes:
    """Return only the certificates in a PEM file, never a key. Raises ServeError with the file if there are none."""
    # Part of the extra [server]. A configuration without a CA can be exported without it.
    from cryptography.hazmat.primitives.serialization import Encoding  # noqa: PLC0415

    from karta_interpreter.base.k8s.pem import read_certificates  # noqa: PLC0415

    try:
        bundle = read_certificates(path.read_bytes(), f"the CA file {path}")
    except OSError as error:
        raise ServeError(f"the CA file {path} cannot be used: {error.strerror}") from error
    except ValueError as error:
        raise ServeError(str(error)) from error
    return b"".join(certificate.public_bytes(Encoding.PEM) for certificate in bundle)


KIND = "ResourceInterpreterWebhookConfiguration"
NAME = "karta-interpreter"
"""The default name of the object."""


def webhook_configuration(  # noqa: PLR0913 - one for each source of a decision
    snapshot: Snapshot,
    endpoint: Endpoint,
    served: Mapping[GVK, ServedKind] | None = None,
    *,
    name: str = NAME,
    multiple_pod_templates: bool = False,
    timeout_seconds: int = 3,
    present: Object | None = None,
    others: Mapping[GVK, Others] | None = None,
    choice: Choice = EVERYTHING,
) -> Object:
    """Return one webhook per definition, each for exactly one kind and the operations of `operations_for`.

    ``served`` is the content of the API server's CRDs, None if it is unknown. ``timeout_seconds`` is from 1 to 30.
    ``others`` are the interpreters that Karmada asks first, where there are some. A kind with a broken definition and
    no last good version keeps its operations in ``present``, the current object. ``choice`` limits all of them.
    Failing calls are better than a workload that Karmada no longer knows how to divide.
    """
    broken = {quarantined.gvk for quarantined in snapshot.quarantined} - snapshot.entries.keys()
    registered, others = registered_operations(present or {}), others or {}
    broken_operations = {
        gvk: operations
        for gvk, operations in registered.items()
        if gvk in broken and are_safe(gvk, operations, multiple_pod_templates=multiple_pod_templates)
    }
    answered = {
        gvk: operations_for(
            entry.definition,
            find_served(served, gvk),
            multiple_pod_templates=multiple_pod_templates,
            component_revision=revises_components(served),
            others=others.get(gvk),
            registered=registered.get(gvk, ()),
        )
        for gvk, entry in snapshot.entries.items()
    }
    operations = dict[GVK, tuple[str, ...]]()
    for gvk, answers in (broken_operations | answered).items():
        if allowed := tuple(operation for operation in answers if choice.allows(gvk, operation)):
            operations[gvk] = allowed
    names = webhook_names(operations)
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": name, "labels": {"app.kubernetes.io/managed-by": NAME}},
        "webhooks": [
            {
                "name": names[gvk],
                "clientConfig": endpoint.client_config(),
                "interpreterContextVersions": ["v1alpha1"],
                "rules": [
                    {
                        "apiGroups": [gvk.group],
                        "apiVersions": [gvk.version],
                        "kinds": [gvk.kind],
                        "operations": list(map(str, operations[gvk])),
                    }
                ],
                "timeoutSeconds": timeout_seconds,
            }
            # Sorted: all replicas have to write the same object, or they would revert each other's.
            for gvk in sorted(operations)
        ],
    }


def left_out(snapshot: Snapshot, served: Mapping[GVK, ServedKind] | None = None) -> tuple[Finding, ...]:
    """Return a warning for each definition of a kind that cannot be registered."""
    served_kinds = {gvk: find_served(served, gvk) for gvk in snapshot.kinds()} if served else {}
    findings = []
    for gvk in (gvk for gvk, served_kind in served_kinds.items() if served_kind and not served_kind.served):
        definition, versions = snapshot.entries[gvk].definition, served_versions(served or {}, gvk)
        serves = f"the API server does not serve {gvk} (versions it serves: {', '.join(versions) or 'none'})"
        message = f"definition {definition.name} is not registered: {serves}"
        hint = "write a version that the CRD serves, or serve this one"
        findings.append(replace(warning("version-not-served", ROOT_KIND, message, hint), source=definition.source))
    return tuple(findings)


def registered_operations(configuration: Object) -> dict[GVK, tuple[str, ...]]:
    """Return the operations of each kind in a configuration that `webhook_configuration` wrote."""
    return {
        GVK(group, version, kind): tuple(rule["operations"])
        for webhook in configuration.get("webhooks") or ()
        for rule in webhook.get("rules") or ()
        for group in rule["apiGroups"]
        for version in rule["apiVersions"]
        for kind in rule["kinds"]
    }


_SUFFIX = "karta-interpreter.io"
_QUALIFIED = re.compile(r"(?!.{254})[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+")


def webhook_names(kinds: Iterable[GVK]) -> dict[GVK, str]:
    """Return a unique qualified DNS name for each kind, which does not depend on the other kinds.

    Karmada requires such names. A kind gets a digest if its name is not a DNS name, or differs from another name only
    in upper and lower case.

    >>> webhook_names([GVK("ray.io", "v1", "RayCluster")])[GVK("ray.io", "v1", "RayCluster")]
    'raycluster.v1.ray.io.karta-interpreter.io'
    >>> webhook_names([GVK("", "v1", "Pod")])[GVK("", "v1", "Pod")]
    'pod.v1.core.karta-interpreter.io'
    """
    plain = {gvk: f"{gvk.kind}.{gvk.version}.{gvk.group or 'core'}.{_SUFFIX}".lower() for gvk in kinds}
    uses = Counter(plain.values())
    return {
        gvk: name
        if uses[name] == 1 and _QUALIFIED.fullmatch(name)
        else f"kind-{sha256('/'.join(gvk).encode()).hexdigest()[:16]}.{_SUFFIX}"
        for gvk, name in plain.items()
    }
