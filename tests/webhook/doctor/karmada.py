"""A Karmada control plane in memory, and the objects that it holds."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from karta_interpreter.base.errors import ClusterError
from karta_interpreter.base.k8s.values import GVK, Object
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.engine.operations import Operation
from karta_interpreter.engine.registered.interpreters import Customization, RegisteredWebhook, read_webhooks

Raw = dict[str, Any]

CONFIGURATIONS = "/apis/config.karmada.io/v1alpha1/resourceinterpreterwebhookconfigurations"
CUSTOMIZATIONS = "/apis/config.karmada.io/v1alpha1/resourceinterpretercustomizations"
ADMISSION = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/karta-interpreter"
CLUSTERS = "/apis/cluster.karmada.io/v1alpha1/clusters"
RIGHTS = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
KARTAS = "/apis/run.ai/v1alpha1/kartas"

JOB = GVK("batch", "v1", "Job")
BREW = GVK("toys.example.com", "v1", "Brew")
RAY = GVK("ray.io", "v1", "RayCluster")
EVERYTHING = tuple(Operation)
HARMLESS = ("InterpretReplica", "ReviseReplica", "AggregateStatus", "InterpretHealth")


@dataclass
class Karmada(ApiServer):
    """Answers GET for what is in ``objects``; a ClusterError there is raised."""

    objects: dict[str, Raw | ClusterError] = field(default_factory=dict)
    url: str = "https://karmada.test:5443"
    namespace: str = "default"

    async def get(self, path: str) -> Raw:
        found = self.objects.get(path, ClusterError(f"GET {path}: 404 not found", status=404, reason="NotFound"))
        if isinstance(found, ClusterError):
            raise found
        return found

    async def create(self, path: str, obj: Object) -> Raw:
        """Answer a review."""
        return {**obj, **await self.get(path)}

    async def list(self, path: str, selector: str = "") -> Sequence[Raw]:
        assert not selector
        return list((await self.get(path))["items"])

    async def resources(self, api_version: str) -> Sequence[Raw]:
        root = "/apis" if "/" in api_version else "/api"
        return list((await self.get(f"{root}/{api_version}"))["resources"])


def items(*objects: Raw) -> Raw:
    return {"items": list(objects)}


def rule(gvk: GVK, operations: tuple[str, ...] = HARMLESS) -> Raw:
    return {
        "apiGroups": [gvk.group],
        "apiVersions": [gvk.version],
        "kinds": [gvk.kind],
        "operations": [str(operation) for operation in operations],
    }


def configuration(client: Raw, *rules: Raw, name: str = "karta-interpreter", timeout: int | None = 3) -> Raw:
    """A configuration with one webhook per rule, as it is read back from an API server."""
    webhooks = [
        {
            "name": f"hook{number}.karta-interpreter.io",
            "clientConfig": client,
            "rules": [each],
            "interpreterContextVersions": ["v1alpha1"],
            **({"timeoutSeconds": timeout} if timeout else {}),
        }
        for number, each in enumerate(rules)
    ]
    return {"metadata": {"name": name}, "webhooks": webhooks}


def hooks(*rules: Raw, name: str = "karta-interpreter", timeout: int | None = 3) -> tuple[RegisteredWebhook, ...]:
    return read_webhooks(
        configuration({"url": "https://interpreter.test/interpret"}, *rules, name=name, timeout=timeout)
    )


def lua(gvk: GVK, *operations: Operation, name: str = "ours-first") -> Customization:
    return Customization(name, gvk, frozenset(operations))


def resources(*kinds: str, status: bool = True) -> Raw:
    """An ``APIResourceList``."""
    plurals = [f"{kind.lower()}s" for kind in kinds]
    found = [{"name": plural, "kind": kind} for plural, kind in zip(plurals, kinds, strict=True)]
    if status:
        found += [{"name": f"{plural}/status", "kind": kind} for plural, kind in zip(plurals, kinds, strict=True)]
    return {"kind": "APIResourceList", "resources": found}


def group(*versions: str) -> Raw:
    """An ``APIGroup``."""
    return {"kind": "APIGroup", "versions": [{"groupVersion": f"x/{each}", "version": each} for each in versions]}


def karta(name: str, gvk: GVK, **conditions: tuple[str, str]) -> Raw:
    kind = {"group": gvk.group, "version": gvk.version, "kind": gvk.kind}
    found = [{"type": each, "status": status, "message": text} for each, (status, text) in conditions.items()]
    return {
        "metadata": {"name": name},
        "spec": {"structureDefinition": {"rootComponent": {"name": "root", "kind": kind}}},
        "status": {"conditions": found},
    }
