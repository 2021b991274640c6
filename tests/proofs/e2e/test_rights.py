"""What the server and its commands ask of a real API server is what their roles allow, no less and no more."""

import json
from collections.abc import Iterator
from pathlib import Path

import yaml

from karta_interpreter import Karta
from karta_interpreter.base.k8s import GVK
from karta_interpreter.base.k8s.dependencies import COMPUTE_DOMAIN
from tests.proofs.e2e.flow import say
from tests.proofs.e2e.installed import Installed
from tests.proofs.rig import commands
from tests.proofs.rig.api import Object, until
from tests.proofs.rig.installation import install
from tests.proofs.rig.interpreter import run
from tests.proofs.rig.kubeconfig import kubeconfig
from tests.proofs.rig.ledger import Ledger
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.processes import free_port

_USER = "system:serviceaccount:karmada-system:karta-interpreter"
_PROJECT = Path(__file__).parents[3]
_ROLES = _PROJECT / "deploy" / "kustomize" / "control-plane" / "base"
_CREATED = 201
_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata", "users": [_USER]}, {"level": "None"}],
}
Right = tuple[str, str, str]
"""A group, a resource and a verb."""


def _allowed() -> Iterator[Right]:
    for file in _ROLES.glob("*.yaml"):
        manifest = yaml.safe_load(file.read_text(encoding="utf-8"))
        for rule in manifest.get("rules", ()) if manifest["kind"] in ("ClusterRole", "Role") else ():
            for group in rule["apiGroups"]:
                yield from ((group, resource, verb) for resource in rule["resources"] for verb in rule["verbs"])


def _asked(log: Path) -> Iterator[Right]:
    for line in log.read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        if (about := event.get("objectRef", {})).get("resource"):
            resource = "/".join(filter(None, (about["resource"], about.get("subresource"))))
            yield about.get("apiGroup", ""), resource, event["verb"]
            # Server-side apply of what is not there needs the right to create it, too.
            if event["verb"] == "patch" and event["responseStatus"]["code"] == _CREATED:
                yield about.get("apiGroup", ""), resource, "create"


def _types() -> Iterator[Object]:
    """Yield CRDs of the kinds of the catalogue that refer to others, and of these."""
    versions: dict[tuple[str, str], set[str]] = {}
    for gvk, karta in Karta.catalogue().items():
        references = [reference.gvk for reference in karta.definition.references]
        for each in (gvk, *references) if references else ():
            versions.setdefault((each.group, each.kind), set()).add(each.version)
    for (group, kind), names in versions.items():
        if "." in group:
            yield _type(GVK(group, "", kind), sorted(names))


def _type(gvk: GVK, versions: list[str]) -> Object:
    plural = f"{gvk.kind.lower()}s"
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    served = [{"name": name, "served": True, "storage": name == versions[0], "schema": schema} for name in versions]
    names = {"kind": gvk.kind, "plural": plural}
    annotations = {"api-approved.kubernetes.io": "unapproved, for a test"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{gvk.group}", "annotations": annotations},
        "spec": {"group": gvk.group, "names": names, "scope": "Namespaced", "versions": served},
    }


def test_rights_of_server_are_those_that_it_uses(plane: ControlPlane, tmp_path: Path) -> None:
    """An API server of its own, which writes down what the account asks."""
    own = ControlPlane.create(tmp_path, plane.layout.binaries)
    log, policy = tmp_path / "audit.log", tmp_path / "policy.yaml"
    policy.write_text(yaml.safe_dump(_POLICY), encoding="utf-8")
    auditing = f"--audit-policy-file={policy}", f"--audit-log-path={log}"
    try:
        own.processes.start("etcd", *commands.etcd(own.layout))
        own.processes.start("karmada-apiserver", *commands.api_server(own.layout, "karmada"), *auditing)
        until("the API server answers", lambda: own.karmada.get("/api/v1/namespaces/default") is not None)
        own.karmada.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "karmada-system"}})
        for file in sorted((own.layout.binaries / "crds").rglob("*interpreter*.yaml")):
            own.karmada.apply(yaml.safe_load(file.read_text(encoding="utf-8")))
        for each in (*_types(), _type(COMPUTE_DOMAIN, [COMPUTE_DOMAIN.version])):
            own.karmada.apply(each)
        token = install(own.karmada)
        config = tmp_path / "interpreter.config"
        config.write_text(kubeconfig(own.karmada.port, own.authority, {"token": token}), encoding="utf-8")
        karta = yaml.safe_load((_PROJECT / "kartas/ray.io/v1/RayCluster/karta.yaml").read_text(encoding="utf-8"))
        until("Kartas are served", lambda: own.karmada.get("/apis/run.ai/v1alpha1/kartas") is not None)
        own.karmada.apply(karta)
        server = Installed(own, config, Ledger()).serve("--kartas", _PROJECT / "kartas", service=free_port())

        def unused() -> set[Right]:
            return {*_allowed()} - {*_asked(log)}

        run("doctor", "--kubeconfig", config)
        until("the server has used its rights", lambda: {verb for *_, verb in unused()} <= {"delete", "get"})
        server.terminate()
        server.ended()
        run("unregister", "--kubeconfig", config)
        until("every right is used", lambda: not unused())
        say(f"{len({*_asked(log)})} rights are used")
        assert {*_asked(log)} - {*_allowed()} == set()
    finally:
        own.stop()
