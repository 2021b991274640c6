"""The ResourceInterpreterWebhookConfiguration of a snapshot."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import sha256

from karta_interpreter.findings import Finding, warning
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import Object
from karta_interpreter.karta.definition import Definition
from karta_interpreter.registration.endpoint import Endpoint
from karta_interpreter.registration.operations import Served, are_safe, find_served, operations_for, served_versions
from karta_interpreter.sources.snapshot import Snapshot

API_VERSION = "config.karmada.io/v1alpha1"
KIND = "ResourceInterpreterWebhookConfiguration"
NAME = "karta-interpreter"
"""The name of the object, and of the field manager that writes it."""

_PATH = ("spec", "structureDefinition", "rootComponent", "kind")


def webhook_configuration(
    snapshot: Snapshot,
    endpoint: Endpoint,
    served: Mapping[GVK, Served] | None = None,
    *,
    name: str = NAME,
    multiple_pod_templates: bool = False,
    timeout_seconds: int = 3,
    present: Object | None = None,
) -> Object:
    """One webhook per definition, each for exactly one kind and the operations of `operations_for`.

    ``served`` is what the API server's CRDs define, None when it is unknown. ``timeout_seconds`` is from 1 to 30.
    A kind whose definition is broken and has no last good version keeps the operations it has in ``present``, the
    object as it is now: calls that fail are better than a workload that Karmada no longer knows how to divide.
    """
    broken = {each.gvk for each in snapshot.quarantined} - snapshot.entries.keys()
    kept = {
        gvk: operations
        for gvk, operations in registered_operations(present or {}).items()
        if gvk in broken and are_safe(gvk, operations, multiple_pod_templates=multiple_pod_templates)
    }
    found = {
        gvk: operations_for(entry.definition, find_served(served, gvk), multiple_pod_templates=multiple_pod_templates)
        for gvk, entry in snapshot.entries.items()
    }
    operations: dict[GVK, tuple[str, ...]] = {gvk: each for gvk, each in (kept | found).items() if each}
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
                        "operations": [str(operation) for operation in operations[gvk]],
                    }
                ],
                "timeoutSeconds": timeout_seconds,
            }
            for gvk in sorted(operations)
        ],
    }


def left_out(snapshot: Snapshot, served: Mapping[GVK, Served] | None = None) -> tuple[Finding, ...]:
    """A warning for each definition whose kind cannot be registered."""
    known = {gvk: find_served(served, gvk) for gvk in snapshot.kinds()} if served else {}
    return tuple(
        _not_served(snapshot.entries[gvk].definition, served_versions(served or {}, gvk))
        for gvk, found in known.items()
        if found and not found.served
    )


def _not_served(definition: Definition, versions: list[str]) -> Finding:
    serves = f"the API server does not serve {definition.gvk} (versions it serves: {', '.join(versions) or 'none'})"
    message = f"definition {definition.name} is not registered: {serves}"
    found = warning("version-not-served", _PATH, message, "write a version that the CRD serves, or serve this one")
    return replace(found, source=definition.source)


def registered_operations(configuration: Object) -> dict[GVK, tuple[str, ...]]:
    """The operations of each kind in a configuration that `webhook_configuration` wrote."""
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
    """A qualified DNS name for each kind, all different, and the same whichever other kinds there are.

    A kind whose name is no DNS name, or differs from another one's in upper and lower case only, gets a digest.

    >>> webhook_names([GVK("ray.io", "v1", "RayCluster")])[GVK("ray.io", "v1", "RayCluster")]
    'raycluster.v1.ray.io.karta-interpreter.io'
    >>> webhook_names([GVK("", "v1", "Pod")])[GVK("", "v1", "Pod")]
    'pod.v1.core.karta-interpreter.io'
    """
    plain = {gvk: f"{gvk.kind}.{gvk.version}.{gvk.group or 'core'}.{_SUFFIX}".lower() for gvk in kinds}
    uses = Counter(plain.values())
    return {
        gvk: name if uses[name] == 1 and _QUALIFIED.fullmatch(name) else _digest(gvk) for gvk, name in plain.items()
    }


def _digest(gvk: GVK) -> str:
    digest = sha256(f"{gvk.group}/{gvk.version}/{gvk.kind}".encode()).hexdigest()
    return f"kind-{digest[:16]}.{_SUFFIX}"
