"""Kartas change while the server answers: it follows, and what becomes of broken ones."""

import base64
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.proofs.e2e.flow import say, shows
from tests.proofs.e2e.installed import Installed
from tests.proofs.e2e.kartas import karta_of
from tests.proofs.e2e.kinds import KINDS, kind_of
from tests.proofs.rig.api import ApiError, Object, until
from tests.proofs.rig.installation import admission
from tests.proofs.rig.interpreter import Interpreter
from tests.proofs.rig.places import put
from tests.proofs.rig.plane import ControlPlane

_JOBSET = kind_of("JobSet")
_CHILD = ("spec", "structureDefinition", "childComponents", 0)
_COUNT = (*_CHILD, "scaleDefinition", "replicasPath")
_TEMPLATE = (*_CHILD, "specDefinition", "podTemplateSpecPath")


@pytest.fixture
def karta(plane: ControlPlane) -> Iterator[Object]:
    """The Karta of JobSet, put back afterwards."""
    karta = karta_of(_JOBSET)
    yield karta
    plane.karmada.apply(karta)


@contextmanager
def _admission(plane: ControlPlane, server: Interpreter) -> Iterator[None]:
    manifests = admission(server.port)
    for manifest in manifests:
        plane.karmada.apply(manifest)
    authority = base64.b64encode(plane.authority.bundle).decode()
    until("the server has filled in its authority", lambda: _trusted(plane, manifests) == {authority})
    yield
    for manifest in manifests:
        plane.karmada.delete(manifest)


def _trusted(plane: ControlPlane, manifests: list[Object]) -> set[str]:
    """Return what the webhooks among some objects trust on karmada-apiserver, base64."""
    found = (plane.karmada.find(manifest) or {} for manifest in manifests)
    return {webhook["clientConfig"].get("caBundle", "") for each in found for webhook in each.get("webhooks", ())}


def test_changed_karta_answers_without_restart(plane: ControlPlane, interpreter: Interpreter, karta: Object) -> None:
    workload = _JOBSET.workload("x")
    interpreter.counts(workload, 9)
    plane.karmada.apply(put(karta, _COUNT, ".spec.replicatedJobs[] | (.replicas // 1) * 2"))
    changed = interpreter.counts(workload, 18)
    plane.karmada.apply(karta)
    back = interpreter.counts(workload, 9)
    say(f"  changed after {changed:.1f} s, back after {back:.1f} s")


def test_deleted_karta_is_not_registered(
    plane: ControlPlane, installed: Installed, interpreter: Interpreter, karta: Object
) -> None:
    begun = time.monotonic()
    plane.karmada.delete(karta)
    until("one kind less is registered", lambda: len(installed.registration()["webhooks"]) == len(KINDS) - 1)
    gone = time.monotonic() - begun
    assert interpreter.ask("InterpretReplica", _JOBSET.workload("x"))["status"]["code"] == 404
    plane.karmada.apply(karta)
    until("all kinds are registered", lambda: len(installed.registration()["webhooks"]) == len(KINDS))
    say(f"  its webhook is gone after {gone:.1f} s")


def test_broken_karta_is_quarantined(plane: ControlPlane, interpreter: Interpreter, karta: Object) -> None:
    plane.karmada.apply(put(karta, _COUNT, ".spec.replicatedJobs[ | 1"))
    expected = {"conditions": [{"type": "Validated", "status": "False"}]}
    status = until("the Karta is not validated", lambda: _status(plane, karta, expected))
    say("\n".join(f"  {one['type']}={one['status']}: {one.get('message', '')}" for one in status["conditions"]))
    assert interpreter.ask("InterpretReplica", _JOBSET.workload("x"))["replicas"] == 9, "the last good version answers"
    plane.karmada.apply(karta)
    expected = {"conditions": [{"type": name, "status": "True"} for name in ("Validated", "CRDExists", "Ready")]}
    until("the Karta is ready again", lambda: _status(plane, karta, expected))


def test_invalid_karta_is_refused_with_all_findings(
    plane: ControlPlane, interpreter: Interpreter, karta: Object
) -> None:
    broken = put(put(karta, _COUNT, ".spec.replicatedJobs[ | 1"), _TEMPLATE, "input_filename")
    with _admission(plane, interpreter):
        refusal = until("the Karta is refused", lambda: _refusal(plane, broken))
        say(f"  {refusal}")
        assert "replicasPath" in refusal
        assert "podTemplateSpecPath" in refusal
        assert (plane.karmada.find(karta) or {})["spec"] == karta["spec"]


def test_second_karta_for_kind_is_refused(plane: ControlPlane, interpreter: Interpreter, karta: Object) -> None:
    second = put(karta, ("metadata", "name"), "another-jobset")
    with _admission(plane, interpreter):
        refusal = until("the Karta is refused", lambda: _refusal(plane, second))
        say(f"  {refusal}")
        assert karta["metadata"]["name"] in refusal


def _status(plane: ControlPlane, karta: Object, expected: Object) -> Object | None:
    status: Object = (plane.karmada.find(karta) or {}).get("status", {})
    return status if shows(status, expected) else None


def _refusal(plane: ControlPlane, karta: Object) -> str:
    """Return why the API server does not take it; empty when it does, which is tried without storing it."""
    path = f"{plane.karmada.path(karta)}?fieldManager=e2e&force=true&dryRun=All"
    try:
        plane.karmada.request("PATCH", path, karta, "application/apply-patch+yaml")
    except ApiError as error:
        return error.message
    return ""
