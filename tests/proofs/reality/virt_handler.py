"""A stand-in for KubeVirt's virt-handler: it tells what became of a guest, by the pod that carries it."""

from contextlib import suppress
from dataclasses import dataclass, field

from tests.proofs.rig.api import Api, ApiError, Object
from tests.proofs.rig.client import Watch

_GUESTS = "/apis/kubevirt.io/v1/virtualmachineinstances"
_ENDED = {"Succeeded", "Failed"}
_MERGE = "application/merge-patch+json"


@dataclass
class VirtHandler:
    """Starts a guest that virt-controller hands over, and ends it with its pod, or when it is deleted."""

    member: Api
    _guests: dict[str, Object] = field(default_factory=dict)
    _pods: dict[str, Object] = field(default_factory=dict)

    def start(self) -> None:
        Watch(self.member, _GUESTS, self._saw_guest).start()
        Watch(self.member, "/api/v1/pods", self._saw_pod).start()

    def _saw_guest(self, guest: Object, exists: bool) -> None:
        uid = guest["metadata"]["uid"]
        if not exists:
            self._guests.pop(uid, None)
            return
        self._guests[uid] = guest
        self._act(uid)

    def _saw_pod(self, pod: Object, exists: bool) -> None:
        uid = pod["metadata"].get("labels", {}).get("kubevirt.io/created-by")
        if uid and exists:
            self._pods[uid] = pod
            self._act(uid)

    def _act(self, uid: str) -> None:
        guest, pod = self._guests.get(uid), self._pods.get(uid)
        if guest is None or pod is None:
            return
        phase = self._phase(guest, pod)
        if phase != str(guest.get("status", {}).get("phase")):
            with suppress(ApiError):
                self.member.request("PATCH", self.member.path(guest), {"status": {"phase": phase}}, _MERGE)

    @staticmethod
    def _phase(guest: Object, pod: Object) -> str:
        phase, ended = (str(each.get("status", {}).get("phase")) for each in (guest, pod))
        if phase not in {"Scheduled", "Running"}:
            return phase
        if "deletionTimestamp" in guest["metadata"]:
            return "Succeeded"
        return ended if ended in _ENDED else "Running"
