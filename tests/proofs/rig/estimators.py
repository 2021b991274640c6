"""An estimator for each member: it counts for the scheduler what the nodes of the member have room for."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial

from tests.proofs.rig import commands
from tests.proofs.rig.api import Object, named, until
from tests.proofs.rig.kubeconfig import write_kubeconfig
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.processes import free_port

_SERVICE_PORT = 10352
"""The one by which the scheduler looks for all of them."""
_CONNECTED = "Connection with estimator server"
_COUNTED = re.compile(r"component sets of resource\(.*?name=\S+/(\S+)\), max component sets: (\d+)")


@contextmanager
def estimating(plane: ControlPlane) -> Iterator[None]:
    """Have the scheduler ask an estimator of each member until the end of the block."""
    services = [_start(plane, name) for name in plane.members]
    for service in services:
        plane.karmada.apply(service)
    before = _connections(plane)
    plane.restart_scheduler(asks_estimators=True)
    until("the scheduler has found the estimators", lambda: _connections(plane) == before + len(services))
    try:
        yield
    finally:
        plane.restart_scheduler(asks_estimators=False)
        for service in services:
            plane.karmada.delete(service)
        plane.processes.stop(*map(_program, plane.members))


def sets_counted(plane: ControlPlane, workload: str) -> Mapping[str, int]:
    """Return the sets of components that each member's estimator counted last for a workload, by the member."""
    running = [name for name in plane.members if _program(name) in plane.processes.running]
    counted = {name: _COUNTED.findall(_log(plane, _program(name))) for name in running}
    last = {name: [int(sets) for key, sets in found if key == workload] for name, found in counted.items()}
    return {name: sets[-1] for name, sets in last.items() if sets}


def _start(plane: ControlPlane, name: str) -> Object:
    """Start the estimator of a member, and return the Service that leads there."""
    api, port = plane.members[name], free_port()
    config = write_kubeconfig(plane.folder / f"{name}-estimator.config", api.port, plane.authority)
    command = commands.command(plane.layout, "karmada-scheduler-estimator", name=name, config=config, port=port)
    plane.processes.start(_program(name), *command)
    until(f"the estimator of {name} listens", partial(_listens, plane, name))
    ports = [{"port": _SERVICE_PORT, "targetPort": port}]
    spec = {"type": "ExternalName", "externalName": "localhost", "ports": ports}
    return named("v1", "Service", _program(name), "karmada-system") | {"spec": spec}


def _program(name: str) -> str:
    return f"karmada-scheduler-estimator-{name}"


def _listens(plane: ControlPlane, name: str) -> bool:
    return "Listening port" in _log(plane, _program(name))


def _connections(plane: ControlPlane) -> int:
    return _log(plane, "karmada-scheduler").count(_CONNECTED)


def _log(plane: ControlPlane, program: str) -> str:
    return (plane.processes.folder / f"{program}.log").read_text(encoding="utf-8", errors="replace")
