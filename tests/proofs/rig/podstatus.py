"""The status of a pod, as a kubelet reports it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from tests.proofs.rig.api import Object

PENDING, STARTED, RUNNING, SUCCEEDED, FAILED = "Pending", "Started", "Running", "Succeeded", "Failed"
"""The phases that a case can want: containers wait, run, run and are ready, have ended well, have ended badly."""

CRASHING = "Crashing"
"""A phase that a case can want: containers have ended badly, and wait to be started again."""

ENDED = {SUCCEEDED, FAILED}
_PER_SUBNET = 250


@dataclass(frozen=True, slots=True)
class _Report:
    wanted: str
    begun: str
    now: str

    @property
    def runs(self) -> bool:
        return self.wanted in {STARTED, RUNNING}

    @property
    def crashes(self) -> bool:
        return self.wanted == CRASHING

    @property
    def ready(self) -> bool:
        return self.wanted == RUNNING

    @property
    def ended(self) -> bool:
        return self.wanted in ENDED

    def container(self, container: Object) -> Object:
        if self.ended:
            return self._container(container, self._terminated(well=self.wanted == SUCCEEDED))
        if self.crashes:
            waiting = {
                "waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting failed container"}
            }
            last = {"lastState": self._terminated(well=False), "restartCount": 9}
            return self._container(container, waiting) | last
        running = {"running": {"startedAt": self.begun}}
        waiting = {"waiting": {"reason": "ContainerCreating"}}
        return self._container(container, running if self.runs else waiting, ready=self.ready, started=self.runs)

    def init_container(self, container: Object) -> Object:
        if container.get("restartPolicy") == "Always" and self.runs:
            return self._container(container, {"running": {"startedAt": self.begun}}, ready=True, started=True)
        if self.runs or self.crashes or self.ended:
            return self._container(container, self._terminated(well=True), ready=True)
        return self._container(container, {"waiting": {"reason": "PodInitializing"}})

    def conditions(self, before: Object) -> Iterator[Object]:
        reason = {SUCCEEDED: "PodCompleted", FAILED: "PodFailed"}.get(self.wanted)
        states = {
            "PodReadyToStartContainers": (self.runs or self.crashes, None),
            "PodScheduled": (True, None),
            "Initialized": (self.runs or self.crashes or self.ended, None),
            "ContainersReady": (self.ready, reason),
            "Ready": (self.ready, reason),
        }
        kept = {condition["type"]: condition for condition in before.get("conditions", [])}
        yield from (condition for name, condition in kept.items() if name not in states)
        for name, (state, why) in states.items():
            old, status = kept.get(name, {}), str(state)
            changed = old.get("lastTransitionTime", self.now) if old.get("status") == status else self.now
            yield {"type": name, "status": status, "lastTransitionTime": changed} | ({"reason": why} if why else {})

    def _terminated(self, *, well: bool) -> Object:
        code, reason = (0, "Completed") if well else (1, "Error")
        return {"terminated": {"exitCode": code, "reason": reason, "startedAt": self.begun, "finishedAt": self.now}}

    @staticmethod
    def _container(container: Object, state: Object, *, ready: bool = False, started: bool = False) -> Object:
        image = container["image"]
        names = {"name": container["name"], "image": image, "imageID": image, "restartCount": 0}
        return names | {"state": state, "ready": ready, "started": started}


def pod_status(pod: Object, wanted: str, number: int) -> Object:
    """Return the status of a pod in the phase that is wanted; ``number`` makes its address."""
    before = pod.get("status", {})
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    report = _Report(wanted, before.get("startTime", now), now)
    spec = pod["spec"]
    status: Object = {
        "phase": RUNNING if report.runs or report.crashes else wanted,
        "conditions": list(report.conditions(before)),
        "startTime": report.begun,
        "hostIP": "10.0.0.1",
        "containerStatuses": [report.container(container) for container in spec["containers"]],
    }
    if spec.get("initContainers"):
        status["initContainerStatuses"] = [report.init_container(container) for container in spec["initContainers"]]
    if report.runs and not before.get("podIP"):
        address = f"10.244.{number // _PER_SUBNET}.{number % _PER_SUBNET + 1}"
        status |= {"podIP": address, "podIPs": [{"ip": address}]}
    return status
