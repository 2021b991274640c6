"""What happens in each namespace of the member, so that a case can wait until nothing does."""

import json
import re
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field

from tests.proofs.rig.api import Object

_CLOCKS = re.compile(
    r'"(?:resourceVersion|lastProbeTime|lastUpdateTime|lastReconcileTime|lastHeartbeatTime)": (?:"[^"]*"|\d+),?'
)
_GLANCE = 0.25


class StoppedError(Exception):
    """The run ends before the case has."""


@dataclass
class Activity:
    """The pods that exist, and when anything in a namespace has changed last."""

    condition: threading.Condition = field(default_factory=threading.Condition)
    stopped: bool = False
    _pods: dict[str, dict[str, Object]] = field(default_factory=lambda: defaultdict(dict))
    _seen: dict[str, str] = field(default_factory=dict)
    _changed: dict[str, float] = field(default_factory=dict)

    def saw(self, thing: Object, exists: bool) -> None:
        """Take note of an object; what only says how late it is does not count as a change."""
        metadata = thing["metadata"]
        uid, namespace = metadata["uid"], metadata["namespace"]
        content = {key: value for key, value in thing.items() if key != "metadata"}
        details = {key: metadata.get(key) for key in ("labels", "annotations", "finalizers", "deletionTimestamp")}
        digest = _CLOCKS.sub("", json.dumps([content, details], sort_keys=True)) if exists else ""
        with self.condition:
            if thing["kind"] == "Pod":
                self._keep(namespace, uid, thing if exists else None)
            if self._seen.get(uid) != digest:
                self._seen[uid] = digest
                self._changed[namespace] = time.monotonic()
                self.condition.notify_all()

    def pods(self, namespace: str) -> list[Object]:
        """Return the pods of a namespace, by name."""
        with self.condition:
            return sorted(self._pods[namespace].values(), key=lambda pod: str(pod["metadata"]["name"]))

    def touch(self, namespace: str) -> None:
        """Count this moment as a change: something was just asked for."""
        with self.condition:
            self._changed[namespace] = time.monotonic()

    def wait_until_quiet(self, namespace: str, quiet: float, limit: float) -> bool:
        """Wait until nothing has changed for ``quiet`` seconds. Return False if ``limit`` seconds pass before."""
        deadline = time.monotonic() + limit
        with self.condition:
            while (now := time.monotonic()) < deadline:
                self._check()
                left = self._changed.get(namespace, now) + quiet - now
                if left <= 0:
                    return True
                self.condition.wait(min(left, deadline - now, _GLANCE))
        return False

    def wait_for_change(self, namespace: str, seconds: float) -> bool:
        """Wait for the next change; return whether there was one within the time."""
        with self.condition:
            before, deadline = self._changed.get(namespace), time.monotonic() + seconds
            while self._changed.get(namespace) == before and (now := time.monotonic()) < deadline:
                self._check()
                self.condition.wait(min(deadline - now, _GLANCE))
            return self._changed.get(namespace) != before

    def stop(self) -> None:
        """Have every wait end with StoppedError."""
        with self.condition:
            self.stopped = True
            self.condition.notify_all()

    def _keep(self, namespace: str, uid: str, pod: Object | None) -> None:
        if pod is None:
            self._pods[namespace].pop(uid, None)
        else:
            self._pods[namespace][uid] = pod

    def _check(self) -> None:
        if self.stopped:
            raise StoppedError
