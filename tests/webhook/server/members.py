"""A member cluster and Karmada around Retain: a controller changes an object, and Karmada writes its own again."""

import copy
import json
from collections.abc import Callable
from typing import Any

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.engine.operations import Options
from karta_interpreter.webhook.server.calls import Calls
from karta_interpreter.webhook.server.contention import Contention, Fight
from tests.webhook.wire.karmada import receive

Thing = dict[str, Any]
Habit = Callable[[Thing, int], None]
"""Changes an object of the member; also gets the number of the turn."""
UID = "b1281059-13a8-4dd5-9dc8-11405a0323c6"


def go(value: Any) -> bytes:
    """JSON as Go writes it."""
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()


class Member:
    """One object in a member, and the time; ``template`` is Karmada's, which a test may change."""

    def __init__(self, store: Store, template: Thing, seconds: float = 5.0) -> None:
        self.template, self.live = template, copy.deepcopy(template)
        self.live["metadata"] |= {"uid": UID, "resourceVersion": "1", "generation": 1}
        self.now, self._seconds = 1_700_000_000.0, seconds
        self.contention = Contention(lambda: self.now, lambda: self.now, lambda: 0.0)
        self.calls = Calls(store, Options())
        self.calls.observers = (self.contention.see,)
        self.contention.limited = self.calls.interruption.limited
        self.asked = 0

    @property
    def fights(self) -> list[Fight]:
        return [Fight(**each) for each in self.contention.fights()]

    def turn(self, habit: Habit, number: int, *, lands: bool = True) -> None:
        """Let the controller work, and then Karmada, whose update may not land."""
        self.now += self._seconds
        changed = copy.deepcopy(self.live)
        habit(changed, number)
        self._write(changed)
        retained = self._retained()
        if lands and retained != self.live:
            self._write(retained)

    def _write(self, changed: Thing) -> None:
        if changed == self.live:
            return
        metadata = changed["metadata"]
        metadata["generation"] += any(changed[part] != self.live.get(part) for part in changed if part == "spec")
        metadata["resourceVersion"] = str(int(metadata["resourceVersion"]) + 1)
        self.live = changed

    def _retained(self) -> Thing:
        desired = copy.deepcopy(self.template)
        metadata = {**self.live["metadata"]}
        del metadata["uid"], metadata["generation"]
        desired["metadata"] = metadata
        answer = self.calls.answer_soon(question(desired, self.live))
        assert isinstance(answer, bytes)
        self.asked += 1
        found: Thing = receive(answer, uid="1", operation="Retain", obj=desired)
        return {**found, "metadata": {**found["metadata"], **self.live["metadata"]}, **_status(self.live)}


def _status(live: Thing) -> Thing:
    return {"status": live["status"]} if "status" in live else {}


def question(desired: Thing, observed: Thing) -> bytes:
    """A call of Retain, byte for byte as Karmada sends it."""
    gvk = GVK.of(desired)
    about = f'"kind":{{"group":"{gvk.group}","version":"{gvk.version}","kind":"{gvk.kind}"}}'
    name = f'"name":"{desired["metadata"]["name"]}","namespace":"{desired["metadata"]["namespace"]}"'
    context = '"kind":"ResourceInterpreterContext","apiVersion":"config.karmada.io/v1alpha1"'
    head = f'{{{context},"request":{{"uid":"1",{about},{name}'
    objects = b',"operation":"Retain","object":%s,"observedObject":%s,"replicas":0}}\n' % (go(desired), go(observed))
    return head.encode() + objects
