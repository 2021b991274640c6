"""Karmada and others around one object of a member, and what replicas of the server see of it."""

import copy
from collections.abc import Callable
from typing import Any

from karta_interpreter.base.k8s.edit import set_value
from karta_interpreter.engine.fights.rounds import advanced, compared
from tests.support.managed_fields import TYPED, Keys, Member, Thing

Change = Callable[[Thing], None]
BEGIN = 1_700_000_000
KARMADA = "karmada-controller-manager"
POD: Thing = {"priorityClassName": "low", "containers": [{"name": "main", "image": "train:1", "resources": {}}]}


def template(**spec: Any) -> Thing:
    annotations = {"work.karmada.io/name": "train-1", "resourcetemplate.karmada.io/generation": "1"}
    metadata = {"name": "train", "namespace": "ml", "annotations": annotations, "labels": {"app": "train"}}
    spec = {"replicas": 2, "template": {"spec": POD}, **spec}
    return copy.deepcopy({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec})


class Series:
    """One object; Karmada writes its template, the first time at once."""

    def __init__(
        self,
        made: Thing,
        *,
        keys: Keys = TYPED,
        webhook: Change = lambda _: None,
        seconds: float = 20.0,
        pruned: str = "",
        replicas: int = 1,
    ) -> None:
        self.template, self.member, self.now = made, Member({"metadata": {}}, keys, webhook), float(BEGIN)
        self.named: list[tuple[str, str]] = []
        self.rounds = [b""] * replicas
        self._seconds, self._pruned, self._asked = seconds, pruned, 0
        self._write(self.template, KARMADA)

    def other(self, change: Change, manager: str = "operator", subresource: str = "") -> None:
        """Let another manager write."""
        changed = copy.deepcopy(self.member.live)
        change(changed)
        self._write(changed, manager, subresource)

    def karmada(self, *, lands: bool = True, manager: str = KARMADA) -> None:
        """Ask Retain, which one replica after the other answers with the template, and write that."""
        at = self._asked % len(self.rounds)
        self._asked += 1
        # Karmada takes over what it has not written itself (``retainClusterFields``).
        live = self.member.live["metadata"]
        ours = copy.deepcopy(self.template)
        for part in ("labels", "annotations"):
            ours = set_value(ours, ("metadata", part), {**live.get(part, {}), **ours["metadata"][part]})
        if comparison := compared(ours, self.member.live):
            self.rounds[at], fought = advanced(self.rounds[at], comparison, int(self.now))
            for difference, _ in fought:
                writer = difference.writer
                self.named.append((difference.field, writer.manager if writer else ""))
        if lands:
            self._write(ours, manager)

    def edit(self, change: Change) -> None:
        """Change the template, whose generation its copies in members carry."""
        change(self.template)
        annotations = self.template["metadata"]["annotations"]
        key = "resourcetemplate.karmada.io/generation"
        annotations[key] = str(int(annotations[key]) + 1)

    def _write(self, changed: Thing, manager: str, subresource: str = "") -> None:
        self.now += self._seconds
        changed = copy.deepcopy(changed)
        changed["spec"].pop(self._pruned, None)
        self.member.write(changed, manager, self.now, subresource)
