"""The way of one workload through Karmada: template, binding, members, and back."""

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

from tests.proofs.e2e.kinds import Counts, Kind
from tests.proofs.rig.api import Api, ApiError, Object, named, until
from tests.proofs.rig.places import at, put
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.policy import propagation

_EDITED = "example.com/edited"
_LATE = ("took longer than", "context deadline exceeded")
_NOTICED = ("failed calling webhook", "webhook call failed")
_OLDER_SHARE = "Karmada asks again when its scheduler has divided the new number"
"""How a refusal ends that is over once Karmada's scheduler has followed a change."""
_OF_KARMADA = '.karmada.io"'
"""How the names of Karmada's own webhooks end, which are away while Karmada restarts."""


def say(line: str) -> None:
    """Print a line of the story that a test tells."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


@dataclass(kw_only=True)
class Story:
    """What a test sees, and when."""

    begun: float = field(default_factory=time.monotonic)

    def saw(self, what: str) -> None:
        """Print what was seen, and when."""
        say(f"  +{time.monotonic() - self.begun:5.1f} s  {what}")


@dataclass
class Flow(Story):
    """A workload on its way; ``template`` is as it was applied last."""

    plane: ControlPlane
    kind: Kind
    template: Object

    @classmethod
    def begin(cls, plane: ControlPlane, kind: Kind, template: Object, placement: Object) -> "Flow":
        """Apply what the workload depends on, its policy and itself."""
        flow = cls(plane, kind, template)
        say(f"\n{kind.name} {flow.name}")
        for thing in (*flow.dependencies(), propagation(template, placement), template):
            plane.karmada.apply(thing)
        return flow

    @property
    def name(self) -> str:
        name: str = self.template["metadata"]["name"]
        return name

    @property
    def karmada(self) -> Api:
        return self.plane.karmada

    def apply(self, template: Object) -> None:
        self.template = template
        self.karmada.apply(template)

    def place(self, placement: Object) -> None:
        self.karmada.apply(propagation(self.template, placement))

    def dependencies(self) -> tuple[Object, ...]:
        """What the pod templates of every workload name."""
        settings, token = f"{self.name}-settings", f"{self.name}-token"
        return named("v1", "ConfigMap", settings, "default"), named("v1", "Secret", token, "default")

    def binding(self) -> Object:
        return self.karmada.find(self._binding()) or {"spec": {}, "status": {}}

    def scheduled(self, expected: Mapping[str, int]) -> Object:
        """Wait until the binding assigns these replicas to the clusters, and return it."""

        def matches() -> Object | None:
            binding = self.binding()
            clusters = {target["name"]: target.get("replicas", 0) for target in binding["spec"].get("clusters", [])}
            return binding if clusters == dict(expected) else None

        binding = until(f"{self.name} is scheduled to {expected}", matches)
        self.saw(f"binding: {_summary(binding['spec'])}")
        return binding

    def scheduled_to_one(self) -> Object:
        """Wait until the binding has a single cluster, and return it."""

        def matches() -> Object | None:
            binding = self.binding()
            return binding if len(binding["spec"].get("clusters", [])) == 1 else None

        binding = until(f"{self.name} is scheduled to one cluster", matches)
        self.saw(f"binding: {_summary(binding['spec'])}")
        return binding

    def members(self, expected: Mapping[str, Counts]) -> dict[str, Object]:
        """Wait until the members' objects have these counts, and return the objects."""

        def matches() -> bool:
            return all(self.kind.counted(self.member(name)) == counts for name, counts in expected.items())

        until(f"members have {expected}", matches)
        self.saw("members: " + ", ".join(f"{name} {counts}" for name, counts in expected.items()))
        return {name: self.member(name) for name in expected}

    def member(self, name: str) -> Object:
        """Return the member's object; raises LookupError where there is none."""
        found = self.plane.members[name].find(self.template)
        if found is None:
            raise LookupError(f"{name} has no {self.name}")
        return found

    def followed(self) -> None:
        """Wait until the members have what the workload depends on."""
        for name, api in self.plane.members.items():
            for thing in self.dependencies():
                until(f"{name} has the {thing['kind']}", partial(api.find, thing))
        self.saw(f"members have the {' and the '.join(thing['kind'] for thing in self.dependencies())}")

    def report(self, **states: str) -> None:
        """Let the controllers of the members write the status of those states."""
        for name, state in states.items():
            api = self.plane.members[name]
            api.put_status(self.template, self.kind.status(state, self.member(name)))

    def health(self, **expected: str) -> None:
        """Wait until the binding says that of its clusters."""

        def matches() -> bool:
            items = self.binding().get("status", {}).get("aggregatedStatus", [])
            return {item["clusterName"]: item.get("health") for item in items} == expected

        until(f"health of {self.name} is {expected}", matches)
        self.saw(f"health: {', '.join(f'{name} {health}' for name, health in expected.items())}")

    def status(self) -> Object:
        return (self.karmada.find(self.template) or {}).get("status") or {}

    def status_other_than(self, before: Object) -> Object | None:
        """Return the status of the template if it has changed."""
        status = self.status()
        return status if status != before else None

    def aggregated(self, expected: Object) -> Object:
        """Wait until the template's status shows at least this, and return it."""

        def matches() -> Object | None:
            status = self.status()
            return status if shows(status, expected) else None

        status = until(f"the status of {self.name} shows {expected}", matches)
        self.saw(f"template status: {_brief(status)}")
        return status

    def generation(self) -> int:
        generation: int = (self.karmada.find(self.template) or {})["metadata"]["generation"]
        return generation

    def edited(self, value: str) -> None:
        """Annotate the template, and wait until the members have that."""
        self.apply(put(self.template, ("metadata", "annotations"), {_EDITED: value}))
        for name in self.plane.members:
            until(f"{name} has the edit", partial(self._has_edit, name, value))
        self.saw("the template is edited, and the members follow")

    def suspended(self, name: str) -> bool | None:
        switch: bool | None = at(self.member(name), self.kind.suspend)
        return switch

    def switched(self, *, suspended: bool) -> None:
        """Wait until the members' objects are suspended, or resumed."""
        what = f"{'suspended' if suspended else 'resumed'} in all members"
        until(what, lambda: all(self.suspended(name) is suspended for name in self.plane.members))
        self.saw(what)

    def reported(self, name: str, status: Object) -> None:
        """Wait until the binding has at least that status of a member."""

        def matches() -> bool:
            items = self.binding()["status"]["aggregatedStatus"]
            return any(item["clusterName"] == name and shows(item.get("status"), status) for item in items)

        until(f"the binding has {status} of {name}", matches)

    def warnings(self) -> list[str]:
        """What Karmada's events warn of for this workload."""
        # kube-apiserver warns of a ServiceCIDR without a name if it compares it before the first one is made.
        events = self.plane.warnings()
        mine = [event for event in events if event["involvedObject"].get("name", "").startswith(self.name)]
        return [f"{event['reason']} x{event.get('count', 1)}: {event['message']}" for event in mine]

    def complaints(self) -> list[str]:
        """What Karmada's events say about calls to us that failed for this workload, but for those that it repeats."""
        warnings = (warning for warning in self.warnings() if _OF_KARMADA not in warning)
        found = [each for each in warnings if any(words in each for words in _NOTICED) and _OLDER_SHARE not in each]
        return [warning for warning in found if not (self.kind.in_processes and any(late in warning for late in _LATE))]

    def end(self) -> None:
        """Take everything away, from the members, too."""

        def is_gone(api: Api) -> bool:
            # The garbage collector of the control plane sees to the bindings, which belong to the template.
            for thing in (self.template, propagation(self.template, {}), *self.dependencies()):
                self.karmada.delete(thing)
            return api.find(self.template) is None

        for api in self.plane.members.values():
            until(f"{self.name} is gone from {api.name}", partial(is_gone, api))

    def _has_edit(self, name: str, value: str) -> bool:
        annotations = self.member(name)["metadata"].get("annotations", {})
        return bool(annotations.get(_EDITED) == value)

    def _binding(self) -> Object:
        name = f"{self.name}-{self.kind.name.lower()}"
        return named("work.karmada.io/v1alpha2", "ResourceBinding", name, "default")


@contextmanager
def flowing(plane: ControlPlane, kind: Kind, template: Object, placement: Object) -> Iterator[Flow]:
    """Send a workload on its way, see to it that no call to us failed, and take it away again."""
    flow = Flow.begin(plane, kind, template, placement)
    try:
        yield flow
        assert flow.complaints() == []
    except BaseException:
        for warning in flow.warnings():
            flow.saw(warning)
        with suppress(AssertionError, ApiError, OSError):
            flow.end()
        raise
    flow.end()


def shows(actual: object, expected: object) -> bool:
    """Whether all that is expected is there; items of lists are known by their ``type`` or ``name``.

    >>> shows({"ready": 3, "conditions": [{"type": "Up", "status": "True"}]}, {"conditions": [{"type": "Up"}]})
    True
    """
    if isinstance(expected, dict):
        return isinstance(actual, dict) and all(shows(actual.get(key), value) for key, value in expected.items())
    if isinstance(expected, list):
        return isinstance(actual, list) and all(any(shows(item, one) for item in actual) for one in expected)
    return actual == expected


def _summary(spec: Object) -> str:
    clusters = ", ".join(f"{target['name']} {target.get('replicas', '')}".strip() for target in spec["clusters"])
    if components := spec.get("components"):
        counts = ", ".join(f"{component['name']} {component['replicas']}" for component in components)
        return f"components {counts}; {clusters}"
    request = spec.get("replicaRequirements", {}).get("resourceRequest", {})
    return f"{spec.get('replicas', 0)} pods of {request}; {clusters}"


def _brief(status: Object) -> str:
    conditions = [f"{one['type']}={one['status']}" for one in status.get("conditions", [])]
    rest = {key: value for key, value in status.items() if key != "conditions"}
    return f"{rest} {' '.join(conditions)}"[:400]
