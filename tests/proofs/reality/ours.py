"""The product: its server, asked in Karmada's words, and its patches applied as Karmada applies them."""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass

import jsonpatch

from tests.proofs.rig.api import Object
from tests.proofs.rig.interpreter import Interpreter

_BAD_REQUEST = 400


class RejectedError(Exception):
    """The product has answered ``successful: false``."""


class UnansweredError(RejectedError):
    """The kind is not registered for the operation, so Karmada would not ask."""


@dataclass(frozen=True, slots=True)
class Ours:
    """One method for each operation."""

    server: Interpreter

    def replica(self, thing: Object) -> Object:
        """InterpretReplica: ``replicas`` and ``replicaRequirements``."""
        return self._ask("InterpretReplica", thing)

    def components(self, thing: Object) -> list[Object]:
        return self._ask("InterpretComponent", thing).get("components") or []

    def dependencies(self, thing: Object) -> list[Object]:
        return self._ask("InterpretDependency", thing).get("dependencies") or []

    def healthy(self, thing: Object) -> bool:
        return bool(self._ask("InterpretHealth", thing)["healthy"])

    def status(self, thing: Object) -> Object | None:
        return self._ask("InterpretStatus", thing).get("rawStatus")

    def revise(self, thing: Object, replicas: int) -> Object:
        return _patched(thing, self._ask("ReviseReplica", thing, replicas=replicas))

    def retain(self, desired: Object, observed: Object) -> Object:
        """Retain; the desired object as it is where the kind is not registered for it."""
        try:
            return _patched(desired, self._ask("Retain", desired, observedObject=observed))
        except UnansweredError:
            return desired

    def aggregate(self, thing: Object, statuses: Sequence[Object]) -> Object:
        """AggregateStatus of healthy clusters with these statuses."""
        items = [
            {"clusterName": f"member{number}", "status": status, "applied": True, "health": "Healthy"}
            for number, status in enumerate(statuses, 1)
        ]
        return _patched(thing, self._ask("AggregateStatus", thing, aggregatedStatus=items))

    def _ask(self, operation: str, thing: Object, **more: object) -> Object:
        answer = self.server.ask(operation, thing, **more)
        if not answer.get("successful"):
            status = answer.get("status") or {}
            text = f"{status.get('code')}: {status.get('message')}"
            unanswered = status.get("code") == _BAD_REQUEST and f"does not answer {operation}" in text
            raise UnansweredError(text) if unanswered else RejectedError(text)
        return answer


def _patched(thing: Object, answer: Object) -> Object:
    if not answer.get("patch"):
        return thing
    patched: Object = jsonpatch.apply_patch(thing, json.loads(base64.b64decode(answer["patch"])))
    return patched
