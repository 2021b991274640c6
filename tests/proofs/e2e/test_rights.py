"""What our programs ask of a real API server is what their roles allow, no less and no more."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path

import yaml

from deploy.write_kustomize import template
from karta_interpreter import Karta
from karta_interpreter.base.k8s import GVK
from karta_interpreter.base.k8s.dependencies import COMPUTE_DOMAIN
from tests.deploy.rendered import CONTROL_PLANE, TYPES_API, needs_helm
from tests.proofs.e2e.accounts import account, bound, role
from tests.proofs.e2e.flow import say
from tests.proofs.e2e.installed import Installed
from tests.proofs.rig import commands
from tests.proofs.rig.api import Object, until
from tests.proofs.rig.installation import install
from tests.proofs.rig.interpreter import PROGRAM, run
from tests.proofs.rig.kubeconfig import write_kubeconfig
from tests.proofs.rig.ledger import Ledger
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.processes import free_port, listens
from tests.support.plurals import plural
from tests.web.types_api.types_server import TypesClient, karta, workload_type

_SERVER = {"kind": "ServiceAccount", "namespace": "karmada-system", "name": "karta-interpreter"}
_OF_TYPES = _SERVER | {"name": f"{_SERVER['name']}{TYPES_API}"}
_PROJECT = Path(__file__).parents[3]
_ROLES = _PROJECT / "deploy" / "kustomize" / "control-plane" / "base"
_OF_VERIFY = _PROJECT / "deploy" / "member" / "clusterrole-verify.yaml"
_KARTAS = "/apis/run.ai/v1alpha1/kartas"
_CREATED = 201
_OF_DOCTOR = {("", "events", "list")}
"""What doctor asks with the rights of whoever runs it: the server's own account does not read events."""
_OF_EVERY_USER = {("authorization.k8s.io", "selfsubjectrulesreviews", "create")}
"""What ClusterRole system:basic-user allows, and doctor asks."""
Right = tuple[str, str, str]
"""A group, a resource and a verb."""


def _user(subject: Object) -> str:
    return f"system:serviceaccount:{subject['namespace']}:{subject['name']}"


def _allowed(manifests: Iterable[Object]) -> Iterator[Right]:
    for manifest in manifests:
        for rule in manifest.get("rules", ()) if manifest["kind"] in ("ClusterRole", "Role") else ():
            for group in rule["apiGroups"]:
                yield from ((group, resource, verb) for resource in rule["resources"] for verb in rule["verbs"])


def _asked(log: Path, subject: Object) -> Iterator[Right]:
    for line in log.read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        if event["user"]["username"] == _user(subject) and (about := event.get("objectRef", {})).get("resource"):
            resource = "/".join(filter(None, (about["resource"], about.get("subresource"))))
            yield about.get("apiGroup", ""), resource, event["verb"]
            # Server-side apply of what is not there needs the right to create it, too.
            if event["verb"] == "patch" and event["responseStatus"]["code"] == _CREATED:
                yield about.get("apiGroup", ""), resource, "create"


def _read(*files: Path) -> list[Object]:
    return [yaml.safe_load(file.read_text(encoding="utf-8")) for file in files]


def _kinds() -> dict[tuple[str, str], set[str]]:
    """Return the versions of the custom kinds of the catalogue, and of those to which they refer."""
    versions: dict[tuple[str, str], set[str]] = {}
    for gvk, known in Karta.catalogue().items():
        for each in (gvk, *(reference.gvk for reference in known.definition.references)):
            if "." in each.group:
                versions.setdefault((each.group, each.kind), set()).add(each.version)
    return versions


def _types() -> Iterator[Object]:
    for (group, kind), names in _kinds().items():
        yield _type(GVK(group, "", kind), sorted(names))


def _objects() -> Iterator[Object]:
    owner = {"apiVersion": "v1", "kind": "ReplicationController", "name": "between", "uid": "between"}
    metadata = {"name": "it", "namespace": "default", "ownerReferences": [owner]}
    for (group, kind), names in _kinds().items():
        yield {**GVK(group, min(names), kind).type_meta, "metadata": metadata}


def _type(gvk: GVK, versions: list[str]) -> Object:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    served = [{"name": name, "served": True, "storage": name == versions[0], "schema": schema} for name in versions]
    names = {"kind": gvk.kind, "plural": plural(gvk.kind)}
    annotations = {"api-approved.kubernetes.io": "unapproved, for a test"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{names['plural']}.{gvk.group}", "annotations": annotations},
        "spec": {"group": gvk.group, "names": names, "scope": "Namespaced", "versions": served},
    }


@contextmanager
def _audited(plane: ControlPlane, folder: Path, *subjects: Object) -> Iterator[tuple[ControlPlane, Path]]:
    """An API server of its own with the kinds of the catalogue, which writes down what accounts ask."""
    own = ControlPlane.create(folder, plane.layout.binaries)
    log, policy = folder / "audit.log", folder / "policy.yaml"
    rules = [{"level": "Metadata", "users": [_user(each) for each in subjects]}, {"level": "None"}]
    written = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"], "rules": rules}
    policy.write_text(yaml.safe_dump(written), encoding="utf-8")
    auditing = f"--audit-policy-file={policy}", f"--audit-log-path={log}"
    try:
        own.processes.start("etcd", *commands.command(own.layout, "etcd"))
        own.processes.start("karmada-apiserver", *commands.api_server(own.layout, "karmada"), *auditing)
        until("the API server answers", lambda: own.karmada.get("/api/v1/namespaces/default") is not None)
        own.karmada.add_namespace("karmada-system")
        for each in (*_types(), _type(COMPUTE_DOMAIN, [COMPUTE_DOMAIN.version])):
            own.karmada.apply(each)
        yield own, log
    finally:
        own.stop()


def _config(plane: ControlPlane, name: str, token: str) -> Path:
    return write_kubeconfig(plane.folder / f"{name}.config", plane.karmada.port, plane.authority, {"token": token})


def test_rights_of_server_are_those_that_it_uses(plane: ControlPlane, tmp_path: Path) -> None:
    with _audited(plane, tmp_path, _SERVER) as (own, log):
        for each in _read(*sorted((own.layout.binaries / "crds").rglob("*interpreter*.yaml"))):
            own.karmada.apply(each)
        config = _config(own, "interpreter", install(own.karmada))
        until("Kartas are served", lambda: own.karmada.get(_KARTAS) is not None)
        own.karmada.apply(*_read(_PROJECT / "kartas/ray.io/v1/RayCluster/karta.yaml"))
        server = Installed(own, config, Ledger()).serve("--kartas", _PROJECT / "kartas", service=free_port())
        allowed = {*_allowed(_read(*_ROLES.glob("*.yaml")))}

        def unused() -> set[Right]:
            return allowed - {*_asked(log, _SERVER)}

        def are_used() -> bool:
            # What doctor reads depends on what is registered already.
            run("doctor", "--kubeconfig", config)
            return {verb for *_, verb in unused()} <= {"delete"}

        until("doctor and the server have used their rights", are_used)
        server.terminate()
        server.ended()
        run("unregister", "--kubeconfig", config)
        until("every right is used", lambda: not unused())
        say(f"{len(allowed)} rights are used")
        assert {*_asked(log, _SERVER)} - allowed - _OF_EVERY_USER - _OF_DOCTOR == set()


@needs_helm
def test_rights_of_types_api_are_those_that_it_uses(plane: ControlPlane, tmp_path: Path) -> None:
    with _audited(plane, tmp_path, _OF_TYPES) as (own, log):
        install(own.karmada)
        installed = template(CONTROL_PLANE, "typesApi.enabled=true")
        chart = [each for each in installed if each["metadata"]["name"] == _OF_TYPES["name"]]
        for each in chart:
            own.karmada.apply(each)
        config = _config(own, "types", own.karmada.token(_OF_TYPES["name"]))
        until("Kartas are served", lambda: own.karmada.get(_KARTAS) is not None)
        subject, token = account(own.karmada, "ada")
        editor = role("editor", {"apiGroups": ["run.ai"], "resources": ["kartas"], "verbs": ["*"]})
        for each in (editor, bound(editor, subject)):
            own.karmada.apply(each)
        port = free_port()
        given = "--cluster", "--no-catalogue", "--kubeconfig", config, "--port", str(port)
        own.processes.start("types-api", PROGRAM, "types-api", *given)
        client = TypesClient(f"http://127.0.0.1:{port}")
        until("the types API lets ada in", lambda: listens(port) and client.get(token=token).status == HTTPStatus.OK)
        created = client.post(workload_type(), token=token)
        path, etag = created.headers["location"], created.headers["etag"]
        (stored,) = own.karmada.request("GET", _KARTAS)["items"]
        double = workload_type("GrainMill", karta(scaleDefinition={"replicasPath": ".spec.stones * 2"}))
        changed = client.ask("PUT", path, double, token=token, If_Match=etag)
        client.ask("DELETE", path, token=token, If_Match=changed.headers["etag"])
        # A Karta of somebody else, for another kind, has the name of ours.
        own.karmada.apply(karta("HandMill") | {"metadata": {"name": stored["metadata"]["name"]}})
        client.post(workload_type(), token=token)
        allowed = {*_allowed(chart)}
        until("every right is used", lambda: not allowed - {*_asked(log, _OF_TYPES)})
        say(f"{len(allowed)} rights are used")
        beyond = {*_asked(log, _OF_TYPES)} - allowed
    assert beyond == set(), beyond


def test_rights_of_verify_are_those_that_it_uses(plane: ControlPlane, tmp_path: Path) -> None:
    subject: Object = {"kind": "ServiceAccount", "namespace": "default", "name": "verify"}
    with _audited(plane, tmp_path, subject) as (own, log):
        (of_verify,) = _read(_OF_VERIFY)
        _, token = account(own.karmada, subject["name"])
        for each in (of_verify, bound(of_verify, subject), *_objects()):
            own.karmada.apply(each)
        run("verify", "-A", "--kubeconfig", _config(own, "verify", token))
        asked, allowed = {*_asked(log, subject)}, {*_allowed([of_verify])}
        of_any = {(group, "*", verb) for group, resource, verb in allowed if resource == "*"}
        beyond = {(group, resource, verb) for group, resource, verb in asked if (group, "*", verb) not in of_any}
        say(f"{len(allowed)} rights are used")
        assert beyond == allowed - of_any
        assert {(group, "*", verb) for group, _, verb in asked - beyond} == of_any
