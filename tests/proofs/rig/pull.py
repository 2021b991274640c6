"""A member in Pull mode: its karmada-agent fetches what Karmada pushes to the others, and reports by itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from tests.proofs.rig import karmada
from tests.proofs.rig.api import until
from tests.proofs.rig.commands import command
from tests.proofs.rig.kubeconfig import write_kubeconfig
from tests.proofs.rig.layout import PULLED
from tests.proofs.rig.ledger import requests_seen
from tests.proofs.rig.plane import ControlPlane, fetch


@contextmanager
def pulling(plane: ControlPlane) -> Iterator[ControlPlane]:
    """Have such a member until the end of the block; yield the control plane with it alone for a member."""
    api = plane.layout.api(PULLED)
    plane.start_api_server(PULLED)
    until("the member in Pull mode is ready", api.ready)
    config = write_kubeconfig(plane.folder / f"{PULLED}.config", api.port, plane.authority)
    agent = command(plane.layout, "karmada-agent", config=config, name=PULLED, own=plane.layout.local(PULLED))
    plane.processes.start("karmada-agent", *agent)
    until("the member in Pull mode is Ready", partial(karmada.is_ready, plane.karmada, PULLED))
    try:
        yield replace(plane, members={PULLED: api})
    finally:
        karmada.leave(plane.karmada, PULLED)
        plane.processes.stop("karmada-agent", f"{PULLED}-apiserver")


def calls_of_the_agent(plane: ControlPlane, host: str) -> int:
    """Return how many answers karmada-agent got from a host."""
    seen = requests_seen(fetch(f"http://{plane.layout.local('agent')}/metrics"), host)
    assert set(seen) <= {"200"}, seen
    return seen["200"]
