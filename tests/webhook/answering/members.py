"""A member cluster and Karmada around Retain: somebody changes an object, and Karmada writes its own again."""

import copy
import json
from collections.abc import Callable
from typing import Any

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.sources.store import Store
from karta_interpreter.engine.operations import Options
from karta_interpreter.webhook.answering.calls import Calls
from karta_interpreter.webhook.answering.fights import Fight, Fights
from tests.support import managed_fields
from tests.webhook.wire.karmada import receive

Thing = dict[str, Any]
Write = Callable[[Thing, int], None]
"""Changes an object of the member in a round, by its number."""
KARMADA = "karmada-controller-manager"


def go(value: Any) -> bytes:
    """JSON as Go writes it."""
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()


class Member:
    """One object in a member, and the time; ``template`` is Karmada's, which a test may change."""

    def __init__(self, store: Store, template: Thing, seconds: float = 5.0, **others: Any) -> None:
        self.template, self.now, self._seconds = template, 1_700_000_000.0, seconds
        self._object = managed_fields.Member({"metadata": {}})
        self._object.write(self._with_own_annotations(), KARMADA, self.now)
        self.found = Fights(lambda: self.now, lambda: self.now, lambda: 0.0)
        self.calls = Calls(store, Options(), rehearses=False, **others)
        self.calls.observers = (self.found.see,)
        self.found.limited = self.calls.interruption.limited
        self.asked = 0

    @property
    def live(self) -> Thing:
        return self._object.live

    @property
    def fights(self) -> list[Fight]:
        return sorted(self.found.current(), key=lambda fight: fight.begin, reverse=True)

    def round(self, write: Write, number: int, *, lands: bool = True) -> None:
        """Let another manager write, and then Karmada, whose update may not land."""
        self.now += self._seconds
        changed = copy.deepcopy(self.live)
        write(changed, number)
        self._object.write(changed, "operator", self.now)
        retained = self._retained()
        self.now += self._seconds
        if lands:
            self._object.write(retained, KARMADA, self.now)

    def _with_own_annotations(self) -> Thing:
        made = copy.deepcopy(self.template)
        own = {"work.karmada.io/name": "train-1", "work.karmada.io/namespace": "karmada-es-member1"}
        made["metadata"]["annotations"] |= own
        return made

    def _retained(self) -> Thing:
        desired, live = self._with_own_annotations(), self.live["metadata"]
        for part in ("annotations", "labels"):
            desired["metadata"][part] = {**live.get(part, {}), **desired["metadata"][part]}
        desired["metadata"]["resourceVersion"] = live["resourceVersion"]
        answer = self.calls.answer_soon(question(desired, self.live))
        assert isinstance(answer, bytes)
        self.asked += 1
        found: Thing = receive(answer, uid="1", operation="Retain", obj=desired)
        return found


def question(desired: Thing, observed: Thing) -> bytes:
    """A call of Retain, byte for byte as Karmada sends it."""
    gvk = GVK.of(desired)
    about = f'"kind":{{"group":"{gvk.group}","version":"{gvk.version}","kind":"{gvk.kind}"}}'
    name = f'"name":"{desired["metadata"]["name"]}","namespace":"{desired["metadata"]["namespace"]}"'
    context = '"kind":"ResourceInterpreterContext","apiVersion":"config.karmada.io/v1alpha1"'
    head = f'{{{context},"request":{{"uid":"1",{about},{name}'
    objects = b',"operation":"Retain","object":%s,"observedObject":%s,"replicas":0}}\n' % (go(desired), go(observed))
    return head.encode() + objects
