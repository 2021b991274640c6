"""The world of the fleet: Karmada, members with the controllers and webhooks of their kinds, and two of our servers."""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.proofs.fleet.workloads import NAMESPACES, SETTINGS
from tests.proofs.reality.controller import Controller
from tests.proofs.reality.controllers import CONTROLLERS
from tests.proofs.reality.programs import build
from tests.proofs.reality.queueing import FLAVORS, QUOTA, cluster_queue, local_queue
from tests.proofs.reality.run import ports_taken
from tests.proofs.rig import binaries
from tests.proofs.rig.api import Api, Object, named, until
from tests.proofs.rig.cluster import Cluster
from tests.proofs.rig.installation import install
from tests.proofs.rig.interpreter import Interpreter, serve
from tests.proofs.rig.karmada import serves
from tests.proofs.rig.kubeconfig import write_kubeconfig
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.podstatus import RUNNING, SUCCEEDED
from tests.proofs.rig.processes import free_port
from tests.proofs.rig.service import Service

Say = Callable[[str], None]

_SERVICE = "karta-interpreter.karmada-system.svc"
_WORKLOAD = re.compile(r"[a-z]+-\d{3}")
_FIRST_ONLY = {"mpi-operator"}
"""Its port is not to be chosen."""
_LIVES_ON = {"head", "worker"}
_PATIENCE = 180.0
_HANDS = 6


@dataclass
class World:
    """What runs; ``phases`` are those that the pods of a workload are to be in, by its name.

    ``hands`` are threads that live as long as the world: a process ends with the thread that has started it.
    """

    plane: ControlPlane
    members: Mapping[str, Cluster]
    service: Service
    recordings: Path
    hands: ThreadPoolExecutor
    servers: dict[str, Interpreter] = field(default_factory=dict)
    phases: dict[str, str] = field(default_factory=dict)

    @property
    def karmada(self) -> Api:
        return self.plane.karmada

    def tell(self, name: str, phase: str) -> None:
        """Have the pods of a workload be in a phase: ``NAME`` in all members, ``MEMBER/NAME`` in one."""
        self.phases[name] = phase
        for member in self.members:
            for namespace in NAMESPACES:
                self.want(member, namespace)

    def want(self, member: str, namespace: str) -> None:
        """Have the pods of a namespace follow the phases of their workloads."""
        self.members[member].kubelet.want(namespace, partial(self._wish, member))

    def serve(self, name: str, *flags: str) -> None:
        """Start a server behind the Service; it records what it is asked."""
        folder = self.recordings / name
        folder.mkdir(exist_ok=True)
        layout, port = self.plane.layout, free_port()
        chain, key = layout.authority.server(f"interpreter-{name}", "localhost", _SERVICE)
        server = serve(
            self.plane.processes,
            f"interpreter-{name}",
            ("localhost", port),
            layout.authority.file,
            *("--cluster", "--register", "--kubeconfig", self.plane.folder / "interpreter.config"),
            *("--certificate-file", chain, "--key-file", key, "--ca-file", layout.authority.file),
            f"--service=karmada-system/karta-interpreter:{self.service.port}",
            *("--record", folder, "--record-secrets", "--grace-period", "1"),
            *flags,
        )
        self.servers[name] = server
        self.service.add(port)

    def stop(self, name: str) -> None:
        """Stop a server in order."""
        server = self.servers.pop(name)
        self.service.remove(server.port)
        server.terminate()
        code, _ = server.ended()
        assert code == 0, f"{name} has ended with {code}"

    def _wish(self, member: str, pod: Object) -> str:
        metadata = pod["metadata"]
        found = _WORKLOAD.match(metadata["name"])
        name = found[0] if found else ""
        phase = self.phases.get(f"{member}/{name}") or self.phases.get(name, RUNNING)
        # The pods of Ray and MPI's workers go on when their job has ended.
        role = metadata.get("labels", {}).get("ray.io/node-type", "")
        return RUNNING if phase == SUCCEEDED and role in _LIVES_ON else phase


@contextmanager
def running(folder: Path, count: int, names: Sequence[str], say: Say) -> Iterator[World]:
    """Start a world with so many members and these controllers, and stop it after the block."""
    controllers = [one for one in CONTROLLERS if one.name in names]
    home = binaries.build(say)
    programs = build([program for one in controllers for program in one.programs], say)
    ports = ports_taken(controllers, home / "reality" / "ports")
    plane = ControlPlane.create(folder, home, [f"member{number}" for number in range(1, count + 1)])
    members = {name: Cluster.of(plane.layout, name, folder / name, programs) for name in plane.members}
    recordings = folder / "recordings"
    recordings.mkdir()
    with ExitStack() as stack:
        stack.enter_context(ports)
        hands = stack.enter_context(ThreadPoolExecutor(_HANDS))
        stack.callback(plane.stop)
        for member in members.values():
            stack.callback(member.stop)
        try:
            plane.start(say)
            world = World(plane, members, Service.start(plane.processes, folder), recordings, hands)
            _populate(world, controllers, say)
            yield world
            for processes in (plane.processes, *(member.processes for member in members.values())):
                for one in processes.running.values():
                    if not one.alive and not one.name.startswith("interpreter"):
                        say(f"{one.name} has ended by itself:\n{one.tail()}")
        except BaseException:
            say("\n".join([plane.processes.tails(), *(member.processes.tails() for member in members.values())]))
            raise


def _populate(world: World, controllers: Sequence[Controller], say: Say) -> None:
    begun = time.monotonic()
    first, *others = world.members.values()
    # The first also installs the CRDs on karmada-apiserver.
    _start(first, controllers)
    say(f"+{time.monotonic() - begun:5.1f} s  {first.member.name} with its controllers")
    free = [one for one in controllers if one.name not in _FIRST_ONLY]
    list(world.hands.map(partial(_start, controllers=free), others))
    say(f"+{time.monotonic() - begun:5.1f} s  the other members")
    for namespace in NAMESPACES:
        _add_namespace(world, namespace)
    for member in world.members.values():
        if any(one.name == "kueue" for one in controllers):
            _add_queue(member, "batch")
    for name in world.members:
        for one in controllers if name == first.member.name else free:
            for kind in () if one.needs else one.kinds:  # those of Kueue are those of others
                until(
                    f"{name} serves {kind.name}",
                    partial(serves, world.karmada, name, kind.api_version, kind.name),
                    _PATIENCE,
                )
    say(f"+{time.monotonic() - begun:5.1f} s  Karmada knows what they serve")
    user, folder = {"token": install(world.karmada)}, world.plane.folder
    write_kubeconfig(folder / "interpreter.config", world.karmada.port, world.plane.authority, user)
    for name in ("a", "b"):
        world.serve(name)
    until("kinds are registered", partial(_is_registered, world), _PATIENCE)
    say(f"+{time.monotonic() - begun:5.1f} s  two servers")


def _start(member: Cluster, controllers: Sequence[Controller]) -> None:
    member.start_member()
    for one in controllers:
        one.start(member)


def _add_namespace(world: World, name: str) -> None:
    namespace = named("v1", "Namespace", name)
    world.karmada.apply(namespace)
    for thing in SETTINGS:
        world.karmada.apply({**thing, "metadata": {**thing["metadata"], "namespace": name}})
    for member in world.members.values():
        until(f"{member.member.name} has {name}", partial(member.member.find, namespace), _PATIENCE)
        world.want(member.member.name, name)
        for listener in member.listeners:
            listener(name, RUNNING)


def _add_queue(member: Cluster, namespace: str) -> None:
    """Have a queue in a namespace with room for everything."""
    member.member.apply(cluster_queue(namespace, next(iter(FLAVORS)), QUOTA))
    member.member.apply(local_queue(namespace))


def _is_registered(world: World) -> bool:
    path = "/apis/config.karmada.io/v1alpha1/resourceinterpreterwebhookconfigurations/karta-interpreter"
    return bool((world.karmada.get(path) or {}).get("webhooks"))
