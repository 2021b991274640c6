"""A day of the fleet: the plan is carried out, by users on karmada-apiserver and by others in members."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPException
from typing import Any

from tests.proofs.fleet.fights import SEEDED, Writer, autoscaler
from tests.proofs.fleet.placements import placement, policy
from tests.proofs.fleet.plan import Event, fails_over, labels_of, plan
from tests.proofs.fleet.workloads import KINDS, Kind
from tests.proofs.fleet.world import Say, World
from tests.proofs.rig.api import ApiError, Object, named
from tests.proofs.rig.places import Place, at, put
from tests.proofs.rig.podstatus import FAILED, PENDING, RUNNING, STARTED, SUCCEEDED
from tests.proofs.rig.policy import duplicated
from tests.proofs.rig.webhook import install_webhook

_RETAIN_REPLICAS = "resourcetemplate.karmada.io/retain-replicas"
_LEAST_BETWEEN, _ROUNDS = 5.0, 12
"""Seconds between two writes of a fight at least, and how many writes it has in a day."""
_CORDONED, _OPENED, _RESTARTED, _RESTARTED_TOO, _GATE_ON = 0.45, 0.6, 0.5, 0.72, 0.78
_TURNS, _PAUSE = 3, 4.0
"""How often a user tries, and the seconds between: Karmada's admission may be away."""
_TAINT = {"key": "cluster.karmada.io/unschedulable", "effect": "NoSchedule"}
_MUTATED = ("Deployment", "StatefulSet", "CloneSet", "LeaderWorkerSet")
"""Kinds whose pods a policy of the members changes."""
_SAID = 15.0


@dataclass
class Day:
    """A day of so many ``seconds`` in a world; ``done`` counts actions, ``errors`` has what could not be done."""

    world: World
    seconds: float
    say: Say
    kinds: Sequence[Kind] = KINDS
    done: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)

    def live(self, objects: int) -> None:
        for member in self.world.members.values():
            for namespace in ("web", "ml"):
                things = [
                    kind.object(0) for kind in self.kinds if (kind.name in _MUTATED and kind.namespace == namespace)
                ]
                install_webhook(member, namespace, things, mutate)
        self._seed()
        begun, said = time.monotonic(), 0.0
        with self._writing():
            for due, act in self._timetable(objects):
                while (left := begun + due * self.seconds - time.monotonic()) > 0:
                    time.sleep(min(left, 1.0))
                self.world.hands.submit(act)
                if (now := time.monotonic() - begun) > said + _SAID:
                    said = now
                    self.say(f"+{now:5.0f} s of {self.seconds:.0f}  {dict(self.done)}, {len(self.errors)} errors")
            time.sleep(max(0.0, begun + self.seconds - time.monotonic()))
        self.say(f"+{time.monotonic() - begun:5.0f} s  {dict(self.done)}, {len(self.errors)} errors")
        for error in self.errors[:20]:
            self.say(f"    {error}")

    def _timetable(self, objects: int) -> Iterator[tuple[float, Callable[[], None]]]:
        """Yield everything that happens, in order, and its share of the day."""
        second = [*self.world.members][len(self.world.members) // 2]
        more = [
            (_CORDONED, self._attempting("cordon", lambda: self._taint(second, [_TAINT]))),
            (_OPENED, self._attempting("uncordon", lambda: self._taint(second, []))),
            (_RESTARTED, self._attempting("restart", lambda: self._restart("a"))),
            (_RESTARTED_TOO, self._attempting("restart", lambda: self._restart("b"))),
            (_GATE_ON, self._attempting("gate", self._turn_gate_on)),
        ]
        events = [(event.time, self._attempting(event.action, self._act(event))) for event in plan(objects, self.kinds)]
        yield from sorted([*events, *more], key=lambda pair: pair[0])

    def _act(self, event: Event) -> Callable[[], object]:
        if phase := _PHASES.get(event.action):
            return lambda: self.world.tell(event.name, phase)
        return partial(getattr(self, event.action), event)

    def _attempting(self, what: str, act: Callable[[], object]) -> Callable[[], None]:
        def attempt() -> None:
            for _ in range(_TURNS):
                try:
                    act()
                except (ApiError, OSError, HTTPException, AssertionError, LookupError) as error:
                    self.errors.append(f"{what}: {type(error).__name__} {str(error)[:220]}")
                    self.stopped.wait(_PAUSE)
                else:
                    self.done[what] += 1
                    return

        return attempt

    def _restart(self, name: str) -> None:
        """Stop a server and start its successor: Karmada has the other one meanwhile."""
        self.world.stop(name)
        self.world.serve(f"{name}2")

    def _turn_gate_on(self) -> None:
        """Register for the gate for components, and restart Karmada with it: it asks about everything once more."""
        for name in [*self.world.servers]:
            self.world.stop(name)
            self.world.serve(f"{name[0]}3", "--multiple-pod-templates-scheduling")
        self.world.plane.restart_components(multiple_pod_templates=True)

    def _taint(self, name: str, taints: Sequence[Object]) -> None:
        cluster = named("cluster.karmada.io/v1alpha1", "Cluster", name)
        self.world.karmada.merge(cluster, {"spec": {"taints": [*taints]}})

    def _seed(self) -> None:
        """Create the objects of fights, and of an autoscaler that is none, in the first member."""
        first = next(iter(self.world.members))
        stems = {kind.stem: kind for kind in self.kinds}
        for seeded in SEEDED:
            if seeded.stem in stems:
                thing = _fought(seeded.kind, seeded.name)
                self.world.karmada.apply(policy(thing, duplicated(first)))
                self.world.karmada.apply(thing)
        kind = stems["deploy"]
        scaled = kind.object(800, **{_RETAIN_REPLICAS: "true"})
        self.world.karmada.apply(policy(scaled, duplicated(first)))
        self.world.karmada.apply(scaled)
        self.world.members[first].member.apply(autoscaler(scaled["metadata"]["name"], kind.namespace))

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Have the writers of the fights at work."""
        first = next(iter(self.world.members.values()))
        between = max(_LEAST_BETWEEN, self.seconds / _ROUNDS)
        stems = {kind.stem for kind in self.kinds}
        writers = [
            Writer(seeded, first, _fought(seeded.kind, seeded.name), between, self.stopped)
            for seeded in SEEDED
            if seeded.stem in stems
        ]
        for writer in writers:
            writer.start()
        try:
            yield
        finally:
            self.stopped.set()
            for writer in writers:
                for error in writer.errors[:1]:
                    self.say(f"{writer.seeded.name}: {len(writer.errors)} errors, the first: {error}")

    def create(self, event: Event) -> None:
        thing = event.kind.object(event.number, **labels_of(event))
        placed = placement(event.kind, event.number, [*self.world.members])
        self.world.karmada.apply(policy(thing, placed, fails_over=fails_over(event.kind, event.number)))
        self.world.karmada.apply(thing)

    def delete(self, event: Event) -> None:
        thing = self._thing(event)
        self.world.karmada.delete(thing)
        self.world.karmada.delete(policy(thing, {}))

    def scale(self, event: Event) -> None:
        self._edit(event, event.kind.count, lambda count: 1 + count % 2 + event.value % 2)

    def roll(self, event: Event) -> None:
        image = f"registry.example/{event.kind.stem}:{10 + event.value}"
        self._edit(event, _image_of(event), lambda _: image)

    def suspend(self, event: Event) -> None:
        self._edit(event, event.kind.switch, lambda _: True)

    def resume(self, event: Event) -> None:
        self._edit(event, event.kind.switch, lambda _: False)

    def hurt(self, event: Event) -> None:
        """Its pods are no longer ready in the member where it is."""
        for name in self._clusters(event):
            self.world.tell(f"{name}/{event.name}", STARTED)

    def mend(self, event: Event) -> None:
        for name in self.world.members:
            if f"{name}/{event.name}" in self.world.phases:
                self.world.tell(f"{name}/{event.name}", RUNNING)

    def move(self, event: Event) -> None:
        """An administrator places it in another way."""
        thing = self._thing(event)
        placed = placement(event.kind, event.number + 3 * event.value, [*self.world.members])
        self.world.karmada.apply(policy(thing, placed, fails_over=fails_over(event.kind, event.number)))

    def meddle(self, event: Event) -> None:
        """Somebody edits the object in a member, once."""
        thing = self._thing(event)
        for name in self._clusters(event)[:1]:
            api = self.world.members[name].member
            if live := api.find(thing):
                patched = put(live, _image_of(event), "registry.example/patched:1")
                api.request("PUT", f"{api.path(live)}?fieldManager=kubectl-edit", patched)

    def _edit(self, event: Event, place: Place, change: Callable[[Any], object]) -> None:
        self.world.karmada.put(self._thing(event), lambda thing: put(thing, place, change(at(thing, place))))

    def _thing(self, event: Event) -> Object:
        return event.kind.object(event.number)

    def _clusters(self, event: Event) -> list[str]:
        name = f"{event.name}-{event.kind.name.lower()}"
        binding = named("work.karmada.io/v1alpha2", "ResourceBinding", name, event.kind.namespace)
        found = self.world.karmada.find(binding) or {"spec": {}}
        return [target["name"] for target in found["spec"].get("clusters", ())]


_PHASES = {"succeed": SUCCEEDED, "fail": FAILED, "stick": PENDING, "unstick": RUNNING}
"""The actions that have the pods of an object be in a phase: the next ones, if they are to be stuck."""


def mutate(thing: Object) -> None:
    """Default a field of the pods, and overwrite one: what a policy of the members does."""
    spec = thing["spec"]
    found = spec.get("template") or spec["leaderWorkerTemplate"]["workerTemplate"]
    found["spec"].setdefault("automountServiceAccountToken", False)
    found.setdefault("metadata", {}).setdefault("annotations", {})["policy.example.org/team"] = "platform"


def _image_of(event: Event) -> Place:
    return (*event.kind.pod, "spec", "containers", 0, "image")


def _fought(kind: Kind, name: str) -> Object:
    thing = kind.object(int(name.rpartition("-")[2]))
    thing["metadata"]["labels"]["fight"] = "seeded"
    return thing
