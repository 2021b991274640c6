"""The autoscaler of the chart under load: pods come, pods go, and no call fails."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import accumulate, repeat
from operator import mul

import pytest

from tests.proofs.e2e.flow import Story, flowing
from tests.proofs.e2e.installed import SERVICE, Installed
from tests.proofs.e2e.kinds import kind_of
from tests.proofs.e2e.stream import streaming
from tests.proofs.rig.api import Object, until
from tests.proofs.rig.binaries import caller as caller_program
from tests.proofs.rig.caller import Caller, calling
from tests.proofs.rig.host import NAME, NAMESPACE, Host, Things, hosting, manifests
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.policy import weighted
from tests.proofs.rig.service import Service

_REQUEST, _TARGET = 0.1, 0.7
"""CPUs that a pod requests, and the share of them that it is to use.

It is little, so that the load need not be large, and several times the CPU of a pod with nothing to do.
"""
_LOAD = 3.5 * _REQUEST * _TARGET
"""CPUs that the load takes: what four pods are for, each of which needs a little with nothing to do."""
_FEWEST, _MOST = 2, 10
_TOLERANCE = 1.1
_LIGHT, _TRIAL = 0.02, 400
"""The share of the load that is left when pods are to go, and the calls a second that tell what a call takes."""
_GROWTH = 1.01
"""How much more calls there are from one look to the next, as long as the pods are enough for them."""
_WORKERS = 10
_AGE = 10
_PATIENCE = 300.0


@dataclass
class Autoscaled(Story):
    """The installation whose pods come and go."""

    host: Host
    things: Things
    caller: Caller
    said: str = ""

    @property
    def autoscaler(self) -> Object:
        status: Object = (self.host.api.find(self.things["HorizontalPodAutoscaler"]) or {})["status"]
        return status

    def utilization(self) -> int:
        """The mean CPU of the pods as the autoscaler knows it, in percent of the request; 0 before it does."""
        metrics = self.autoscaler.get("currentMetrics") or ()
        found = [metric.get("containerResource", {}).get("current", {}) for metric in metrics]
        return sum(one.get("averageUtilization", 0) for one in found)

    def cpu(self) -> float:
        return sum(pod.usage.cpu for pod in self.host.pods)

    def cpu_per_call(self) -> float:
        """Seconds of CPU that a call takes, at a moderate load."""
        self.caller.rate(_TRIAL)
        self._answered(_TRIAL)
        cpu, calls = self.cpu(), self.caller.last["calls"]
        self._answered(4 * _TRIAL)
        cost: float = (self.cpu() - cpu) / (self.caller.last["calls"] - calls)
        return cost

    def _answered(self, calls: int) -> None:
        wanted = self.caller.last["calls"] + calls
        until(f"{calls} more calls", lambda: self.caller.last["calls"] >= wanted)

    def follow(self, what: str, question: Callable[[], bool]) -> None:
        """Say what there is to see until the answer is true."""
        deadline = time.monotonic() + _PATIENCE
        while not question():
            assert time.monotonic() < deadline, f"not within {_PATIENCE:.0f} s: {what}"
            assert not self.host.kubelet.errors
            time.sleep(0.5)
            self._look()
        self._look()
        self.saw(what)

    def _look(self) -> None:
        wanted = self.autoscaler["desiredReplicas"]
        ready = sum(pod.ready and not pod.stopping for pod in self.host.pods)
        line = f"{wanted} pods are wanted, {ready} are ready; CPU is at {self.utilization()} % of the request"
        if line != self.said:
            self.said = line
            self.saw(line)


@pytest.fixture
def host(plane: ControlPlane, installed: Installed, front: Service) -> Iterator[Host]:
    with hosting(plane, plane.members["member1"], installed.kubeconfig, front) as host:
        yield host


@pytest.fixture
def things(host: Host, installed: Installed) -> Iterator[Things]:
    """What is installed, with values that take less load and less time than production."""
    things = manifests()
    container = things["Deployment"]["spec"]["template"]["spec"]["containers"][0]
    container["resources"]["requests"]["cpu"] = str(_REQUEST)
    service = f"--service={NAMESPACE}/{NAME}:"
    arguments = [f"{service}{host.front.port}" if one.startswith(service) else one for one in container["args"]]
    container["args"] = [*arguments, "--no-catalogue", f"--connection-age={_AGE}"]
    scaling = {"maxReplicas": _MOST, "behavior": {"scaleDown": {"stabilizationWindowSeconds": 5}}}
    things["HorizontalPodAutoscaler"]["spec"].update(scaling)
    host.install(things)
    yield things
    host.remove(things)
    assert not host.kubelet.errors
    for pod in host.kubelet.gone:
        assert pod.server.process.child.returncode == 0
        installed.ledger.read(pod.metrics)


def test_pods_follow_the_load_and_no_call_fails(
    plane: ControlPlane, installed: Installed, host: Host, things: Things
) -> None:
    installed.registered({"service": {"name": NAME, "port": host.front.port}})
    kind = kind_of("RayCluster")
    objects = [kind_of(name).workload("load") for name in ("RayCluster", "PyTorchJob")]
    program, service = caller_program(plane.layout.binaries), (NAMESPACE, NAME, host.front.port)
    with ExitStack() as stack:
        before = plane.requests_seen(SERVICE)
        flow = stack.enter_context(flowing(plane, kind, kind.workload("autoscaled"), weighted(2, 1)))
        stream = stack.enter_context(streaming(flow))
        caller = stack.enter_context(calling(program, service, host.authority(), objects, _WORKERS))
        scaled = Autoscaled(host, things, caller)
        scaled.follow("the fewest pods are ready", lambda: host.is_ready(_FEWEST))
        fewest = set(host.calls())

        cost = scaled.cpu_per_call()
        rate = _LOAD / cost
        scaled.saw(f"a call takes {cost * 1e6:.0f} µs of CPU; {rate:.0f} a second from now on, and more and more")
        rates = accumulate(repeat(_GROWTH), mul, initial=rate)

        def is_too_much() -> bool:
            # Many calls a second take less each than few.
            wanted: int = scaled.autoscaler["desiredReplicas"]
            if wanted == _FEWEST:
                caller.rate(round(next(rates)))
            return wanted > _FEWEST

        scaled.follow("more pods are wanted", is_too_much)
        enough = 100 * _TARGET * _TOLERANCE

        def is_enough() -> bool:
            wanted = scaled.autoscaler["desiredReplicas"]
            return host.is_ready(wanted) and 0 < scaled.utilization() <= enough

        scaled.follow("the pods are enough", is_enough)

        def new_pod_answers() -> bool:
            # Connections are few and long, and which pod gets one is a matter of chance. It may be gone before it does.
            is_too_much()
            return any(count for name, count in host.calls().items() if name not in fewest)

        scaled.follow("new pods answer", new_pod_answers)
        grown = len(host.pods)

        caller.rate(round(_LIGHT * rate))
        scaled.saw(f"{round(_LIGHT * rate)} calls a second from now on")

        def is_fewer() -> bool:
            # The fewest would ask the machine how much a pod takes with nothing to do.
            wanted: int = scaled.autoscaler["desiredReplicas"]
            return wanted < grown and host.is_ready(wanted)

        scaled.follow("pods are gone again", is_fewer)
        seen = plane.requests_seen(SERVICE) - before
        total = caller.last
        scaled.saw(f"{total['calls']} calls, {total['failed']} failed, the slowest took {caller.slowest():.3f} s")
        scaled.saw(f"{stream.changes} changes of a workload, Karmada got {dict(seen)}")
    assert grown > _FEWEST
    assert total["failed"] == 0, total["error"]
    assert set(seen) == {"200"}
