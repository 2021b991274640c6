import time
from dataclasses import dataclass

from karta_interpreter.server.health import Readiness
from karta_interpreter.sources.snapshot import Snapshot
from karta_interpreter.sources.store import Store
from tests.server.process import KARTAS


@dataclass
class Certificate:
    not_after: float


def test_a_server_with_definitions_and_a_valid_certificate_is_ready() -> None:
    store = Store([KARTAS], catalogue=False)
    store.load()
    certificate = Certificate(time.time() + 60)
    readiness = Readiness(lambda: store.snapshot, certificate)
    assert readiness.objections() == []
    certificate.not_after = time.time() - 1
    assert readiness.objections() == ["the certificate has expired"]


def test_all_objections_are_named() -> None:
    readiness = Readiness(Snapshot, Certificate(0))
    readiness.draining = True
    assert len(readiness.objections()) == 3


def test_a_server_waits_for_the_kartas_of_its_cluster() -> None:
    store = Store([KARTAS], catalogue=False)
    store.load()
    settled = [False]
    readiness = Readiness(lambda: store.snapshot, None, lambda: settled[0])
    assert readiness.objections() == ["the Kartas of the cluster have not been read yet"]
    settled[0] = True
    assert readiness.objections() == []


def test_plain_http_needs_no_certificate() -> None:
    assert Readiness(Snapshot, None).objections() == ["no definition is served"]
