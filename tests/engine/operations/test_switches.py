"""A switch that the template leaves unset: whose it is, as an API server notes it."""

import copy
from typing import Any

from karta_interpreter.base.k8s.edit import get, remove, set_value
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.operations import Call, Operation
from karta_interpreter.export.customization import script_of
from karta_interpreter.languages.lua.script import Script
from tests.engine.operations.conftest import Define, component, template
from tests.support.both_ways import ask
from tests.support.managed_fields import Member
from tests.support.scripts import answer

SWITCH = ("spec", "suspend")
KARMADA, FLUX = "karmada-controller-manager", "flux"
ROOT = component("train", ".spec.template", ".spec.replicas // 1") | {
    "suspendDefinition": {
        "suspendActions": [{"path": ".spec.suspend", "value": "true"}],
        "resumeActions": [{"path": ".spec.suspend", "value": "false"}],
    }
}


def train(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "example.io/v1",
        "kind": "Train",
        "metadata": {"name": "t", "annotations": {"work.karmada.io/name": "w"}},
        "spec": {"template": template(), "replicas": 1, **spec},
    }


def made(sent: dict[str, Any], **admission: Any) -> Member:
    """Return a member in which Karmada has made an object."""
    member = Member({"metadata": {}}, **admission)
    member.write(sent, KARMADA, 1)
    return member


def applied(member: Member, manager: str) -> dict[str, Any]:
    """Return the member's object after a manager has applied the switch with the same value."""
    entry = {"manager": manager, "operation": "Apply", "fieldsV1": {"f:spec": {"f:suspend": {}}}}
    return set_value(member.live, ("metadata", "managedFields"), [*member.live["metadata"]["managedFields"], entry])


def kept(definition: Definition, observed: dict[str, Any], desired: dict[str, Any] | None = None) -> Any:
    """Return the switch that Karmada sends: that of the server and of the exported script."""
    call = Call(Operation.RETAIN, desired or train(), observed=observed)
    retained = ask(definition, call)["retained"]
    script = Script("Retain", script_of(definition, Operation.RETAIN), "t")
    assert answer([script], object=call.object, observed=observed)["retained"] == retained
    return get(retained, SWITCH)


def test_switch_that_karmada_alone_has_written_is_dropped_with_the_template(define: Define) -> None:
    member = made(train(suspend=True))
    assert kept(define(root=ROOT), member.live) is None
    member.write(remove(member.live, ("spec", "suspend")), KARMADA, 2)
    assert "f:suspend" not in str(member.live["metadata"]["managedFields"])


def test_switch_of_webhook_stays(define: Define) -> None:
    def suspends(obj: dict[str, Any]) -> None:
        obj["spec"]["suspend"] = True

    assert kept(define(root=ROOT), made(train(), webhook=suspends).live) is True


def test_switch_that_somebody_else_has_written_stays(define: Define) -> None:
    member = made(train(suspend=False))
    member.write(set_value(member.live, SWITCH, True), FLUX, 2)
    assert kept(define(root=ROOT), member.live) is True


def test_switch_with_a_second_owner_stays(define: Define) -> None:
    member = made(train(suspend=True))
    assert kept(define(root=ROOT), applied(member, FLUX)) is True
    assert kept(define(root=ROOT), applied(member, KARMADA)) is None, "both entries are Karmada's"


def test_default_stays_because_an_api_server_would_write_it_again(define: Define) -> None:
    assert kept(define(root=ROOT), made(train(suspend=False)).live) is False


def test_switch_of_queue_stays(define: Define) -> None:
    member, queued = made(train(suspend=True)), train()
    queued["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "q"}
    assert kept(define(root=ROOT), member.live, queued) is True


def test_switch_stays_without_notes_of_its_owner(define: Define) -> None:
    member = made(train(suspend=True)).live
    for broken in (None, [], "none", [None], [{"manager": 1, "fieldsV1": 1}], [{"fieldsV1": {"f:spec": 1}}]):
        assert kept(define(root=ROOT), set_value(member, ("metadata", "managedFields"), broken)) is True
    many = [{"manager": str(number)} for number in range(64)]
    entries = [*many, *member["metadata"]["managedFields"]]
    assert kept(define(root=ROOT), set_value(member, ("metadata", "managedFields"), entries)) is True


def test_switch_in_a_part_that_somebody_owns_as_a_whole_stays(define: Define) -> None:
    member = copy.deepcopy(made(train(suspend=True)).live)
    member["metadata"]["managedFields"].append({"manager": FLUX, "fieldsV1": {"f:spec": {}}})
    assert kept(define(root=ROOT), member) is True
