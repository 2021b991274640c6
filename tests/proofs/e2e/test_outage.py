"""karmada-apiserver goes away and comes back; our server does not mind."""

import re
import signal
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from tests.proofs.e2e.flow import flowing, say
from tests.proofs.e2e.installed import Installed
from tests.proofs.e2e.kartas import HEADS, changed
from tests.proofs.e2e.kinds import kind_of
from tests.proofs.rig.api import Object, until
from tests.proofs.rig.interpreter import Interpreter
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.policy import weighted

_RAYCLUSTER = kind_of("RayCluster")
_STALE = re.compile(r"^karta_interpreter_cluster_stale_seconds (\S+)$", re.MULTILINE)


@pytest.fixture(scope="module", autouse=True)
def _fresh(plane: ControlPlane) -> Iterator[None]:
    """Karmada's own watches take up to a minute to come back: the tests that follow need not wait for that."""
    yield
    plane.restart_components(multiple_pod_templates=False)


@contextmanager
def _outage(plane: ControlPlane) -> Iterator[None]:
    plane.processes.running["karmada-apiserver"].stop(signal.SIGKILL)
    say("  karmada-apiserver is killed")
    yield
    plane.start_api_server("karmada")
    until("karmada-apiserver is back", plane.karmada.ready)
    until("clusters are served", plane.clusters_served)
    say("  karmada-apiserver is back")


def _two_heads(plane: ControlPlane) -> AbstractContextManager[Object]:
    """Change the Karta of RayCluster, so that it counts a pod more than that of the catalogue."""
    return changed(plane.karmada, _RAYCLUSTER, HEADS, "2")


def _stale(server: Interpreter) -> float:
    (seconds,) = _STALE.findall(server.get("/metrics")[1])
    return float(seconds)


def test_server_answers_during_outage_and_catches_up(plane: ControlPlane, interpreter: Interpreter) -> None:
    placed, up, _ = _RAYCLUSTER.stages
    with flowing(plane, _RAYCLUSTER, _RAYCLUSTER.workload("outlives"), weighted(2, 1)) as flow:
        flow.members(placed.members)
        with _outage(plane):
            for _ in range(20):
                assert interpreter.ready()
                assert interpreter.ask("InterpretReplica", flow.template)["replicas"] == placed.pods
                time.sleep(0.1)
            flow.saw(f"we answer, with Kartas that are {_stale(interpreter):.1f} s old")
        flow.apply(_RAYCLUSTER.scaled(flow.template, up.template))
        flow.members(up.members)

        with _two_heads(plane):
            seconds = interpreter.counts(flow.kind.workload("x"), placed.pods + 1)
            flow.saw(f"a new Karta answers after {seconds:.1f} s")


def test_server_starts_from_its_catalogue(plane: ControlPlane, installed: Installed) -> None:
    workload, pods = _RAYCLUSTER.workload("x"), _RAYCLUSTER.stages[0].pods
    with _two_heads(plane):
        with _outage(plane):
            begun = time.monotonic()
            server = installed.serve("--catalogue", "--no-register", "--ready-without-cluster")
            assert server.ask("InterpretReplica", workload)["replicas"] == pods
            say(f"  ready with its catalogue after {time.monotonic() - begun:.1f} s")
        seconds = server.counts(workload, pods + 1)
        say(f"  the Kartas of the control plane answer {seconds:.1f} s after it is back")
    installed.stop(server)
