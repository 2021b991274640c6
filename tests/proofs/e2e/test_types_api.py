"""Types are registered over HTTP, and are Kartas on karmada-apiserver, whose RBAC decides who may."""

from collections.abc import Iterator

import pytest

from tests.proofs.e2e.accounts import account, bound, role
from tests.proofs.e2e.flow import say
from tests.proofs.e2e.installed import Installed
from tests.proofs.rig.api import Object, until
from tests.proofs.rig.interpreter import PROGRAM, Interpreter
from tests.proofs.rig.kubeconfig import write_kubeconfig
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.processes import free_port, listens
from tests.web.types_api.types_server import TYPES, TypesClient, karta, workload, workload_type

_KARTAS = "/apis/run.ai/v1alpha1/kartas"
_KARTA_RULE = {"apiGroups": ["run.ai"], "resources": ["kartas"]}
_WRITE = _KARTA_RULE | {"verbs": ["create", "update", "delete"]}
_READ = _KARTA_RULE | {"verbs": ["get", "list"]}
_WATCH = _KARTA_RULE | {"verbs": ["watch"]}
_REVIEWS = [
    {"apiGroups": ["authentication.k8s.io"], "resources": ["tokenreviews"], "verbs": ["create"]},
    {"apiGroups": ["authorization.k8s.io"], "resources": ["subjectaccessreviews"], "verbs": ["create"]},
]


def _rights(name: str, subject: Object, *rules: Object) -> list[Object]:
    given = role(name, *rules)
    return [given, bound(given, subject)]


@pytest.fixture
def server(plane: ControlPlane, installed: Installed) -> Iterator[tuple[Interpreter, TypesClient]]:
    subject, token = account(plane.karmada, "types-api")
    rights = _rights("karta-interpreter-types-api", subject, _WRITE, _READ, _WATCH, *_REVIEWS)
    for each in rights:
        plane.karmada.apply(each)
    own = write_kubeconfig(plane.folder / "types-api.config", plane.karmada.port, plane.authority, {"token": token})
    port, interpreter = free_port(), installed.serve("--webhook-timeout=30")
    given = "--cluster", "--no-catalogue", "--kubeconfig", own, "--port", str(port)
    api = plane.processes.start("types-api", PROGRAM, "types-api", *given)
    until("the types API listens", lambda: listens(port))
    yield interpreter, TypesClient(f"http://127.0.0.1:{port}")
    api.stop()
    installed.stop(interpreter)
    for each in rights:
        plane.karmada.delete(each)


def test_types_are_registered_by_users_of_karmada_apiserver(
    plane: ControlPlane, installed: Installed, server: tuple[Interpreter, TypesClient]
) -> None:
    interpreter, client = server
    subject, ada = account(plane.karmada, "ada")
    _, eve = account(plane.karmada, "eve")
    editor = _rights("workload-types-editor", subject, _WRITE, _READ)
    for each in editor:
        plane.karmada.apply(each)

    assert client.get(token="no-token-of-anybody").status == 401  # noqa: S106 - none
    refused = client.post(workload_type(), token=eve)
    assert refused.status == 403
    say(f"  {refused.json['detail']}")
    until("RBAC lets ada in", lambda: client.get(token=ada).status == 200)

    created = client.post(workload_type("GrainMill", karta(), karta(version="v2")), token=ada)
    assert created.status == 201, created.json
    path = created.headers["location"]
    selector = f"types.karta-interpreter.io/id%3D{created.json['id']}"
    stored = plane.karmada.request("GET", f"{_KARTAS}?labelSelector={selector}")["items"]
    say(f"  {[each['metadata']['name'] for each in stored]}")
    assert len(stored) == 2

    def answers(replicas: int) -> bool:
        return bool(interpreter.ask("InterpretReplica", workload()).get("replicas") == replicas)

    # The API answers when karmada-apiserver has the Kartas. The server sees them by its watch.
    until("the server serves the type", lambda: answers(3))

    def is_registered() -> bool:
        return any("GrainMill" in str(webhook["rules"]) for webhook in installed.registration()["webhooks"])

    until("the type is registered with Karmada", is_registered)
    again = client.post(workload_type("GrainMill", karta(), karta(version="v2")), token=ada)
    assert (again.status, again.headers["etag"]) == (200, created.headers["etag"])
    double = karta(scaleDefinition={"replicasPath": ".spec.stones * 2"})
    changed = client.ask("PUT", path, workload_type("GrainMill", double), token=ada, If_Match=again.headers["etag"])
    assert (changed.status, changed.json["versions"]) == (200, ["v1"]), changed.json
    until("the server serves the change", lambda: answers(6))
    lost = client.ask("DELETE", path, token=ada, If_Match=again.headers["etag"])
    assert lost.status == 412

    mine = karta("HandMill") | {"metadata": {"name": "handmill"}}
    plane.karmada.apply(mine)
    until(
        "the Karta of another client is listed",
        lambda: client.get(f"{TYPES}?filterBy=name==HandMill", token=ada).json["total"],
    )
    owned = client.post(workload_type("HandMill"), token=ada)
    say(f"  {owned.json['detail']}")
    assert (owned.status, owned.json["owner"]) == (409, "e2e")

    assert client.ask("DELETE", path, token=ada, If_Match=changed.headers["etag"]).status == 204
    assert plane.karmada.request("GET", f"{_KARTAS}?labelSelector={selector}")["items"] == []
    until("the type is registered no longer", lambda: not is_registered())
    for each in (*editor, mine):
        plane.karmada.delete(each)
