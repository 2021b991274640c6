"""A Knative Service with a named revision: members refuse another share under its name, and other edits arrive."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import yaml

from tests.proofs.e2e.installed import Installed
from tests.proofs.e2e.kinds import KINDS
from tests.proofs.rig.api import Object, until
from tests.proofs.rig.interpreter import Interpreter
from tests.proofs.rig.karmada import serves
from tests.proofs.rig.layout import MEMBERS
from tests.proofs.rig.places import Place, at, put
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.policy import propagation, weighted

_KIND = "serving.knative.dev/v1", "Service"
_KARTA = Path(__file__).parents[3] / "kartas" / _KIND[0] / _KIND[1] / "karta.yaml"
_SHARE: Place = ("spec", "template", "metadata", "annotations", "autoscaling.knative.dev/min-scale")
_NAME: Place = ("spec", "template", "metadata", "name")
_EDITED: Place = ("metadata", "labels", "example.com/edited")


@pytest.fixture
def served(plane: ControlPlane, installed: Installed, interpreter: Interpreter) -> Iterator[None]:
    """The Karta of a Service, beside those of all other tests."""
    karta = yaml.safe_load(_KARTA.read_text(encoding="utf-8"))
    plane.karmada.apply(karta)
    for name in MEMBERS:
        until(f"{name} serves a Service of Knative", partial(serves, plane.karmada, name, *_KIND))
    installed.registered({"url": interpreter.url}, len(KINDS) + 1)
    yield
    plane.karmada.delete(karta)
    installed.registered({"url": interpreter.url})


def _service(name: str, pods: int) -> Object:
    container = {"image": "registry.example/shop:1", "resources": {"requests": {"cpu": "1"}}}
    template = {
        "metadata": {"name": f"{name}-one", "annotations": {_SHARE[-1]: str(pods)}},
        "spec": {"containers": [container]},
    }
    metadata = {"name": name, "namespace": "default", "labels": {}}
    return {"apiVersion": _KIND[0], "kind": _KIND[1], "metadata": metadata, "spec": {"template": template}}


def _shares(plane: ControlPlane, service: Object, place: Place = _SHARE) -> list[object]:
    found = [plane.members[name].find(service) for name in MEMBERS]
    return [at(one, place) if one else None for one in found]


@pytest.mark.usefixtures("served")
def test_share_of_a_named_revision_stays_and_edits_arrive(plane: ControlPlane) -> None:
    service = _service("shop", 6)
    plane.karmada.apply(propagation(service, weighted(2, 1)))
    plane.karmada.apply(service)
    try:
        until("the members have 4 and 2", lambda: _shares(plane, service) == ["4", "2"])
        plane.karmada.apply(propagation(service, weighted(1, 1)))
        edited = put(service, _EDITED, "yes")
        plane.karmada.apply(edited)
        until("the edit arrives", lambda: _shares(plane, service, _EDITED) == ["yes", "yes"])
        assert _shares(plane, service) == ["4", "2"]
        plane.karmada.apply(put(edited, _NAME, "shop-two"))
        until("a new revision has the new shares", lambda: _shares(plane, service) == ["3", "3"])
    finally:
        plane.karmada.delete(service)
        until("the members have no Service", lambda: _shares(plane, service) == [None, None])
