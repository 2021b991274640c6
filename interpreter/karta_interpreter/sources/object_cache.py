"""Looking up objects of kinds of which all are held."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from karta_interpreter.errors import QueryReferenceError
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import Object


@dataclass(frozen=True, slots=True)
class CachedObjects:
    """The objects of one kind by namespace, if any, and name; ``problem`` is the reason why they are not known."""

    objects: Mapping[str, Object] = field(default_factory=dict)
    problem: str = ""


NOT_YET = CachedObjects(problem="it has not been listed yet")


class Lookup(ABC):
    """A reader (`karta_interpreter.karta.resolution.Reader`) of what it holds."""

    @abstractmethod
    def holding(self, gvk: GVK) -> CachedObjects:
        """What there is of a kind."""

    def get(self, gvk: GVK, namespace: str, name: str) -> Object | None:
        """The object of that name, None when there is none; raises QueryReferenceError where that is not known."""
        objects = self._known(gvk)
        return objects.get(f"{namespace}/{name}") or objects.get(name)

    def list(self, gvk: GVK, namespace: str | None) -> Sequence[Object]:
        """The objects of a kind; raises QueryReferenceError where they are not known."""
        objects = self._known(gvk)
        return [obj for key, obj in objects.items() if namespace is None or _is_in(namespace, key)]

    def _known(self, gvk: GVK) -> Mapping[str, Object]:
        holding = self.holding(gvk)
        if holding.problem:
            raise QueryReferenceError(f"{gvk} cannot be looked up: {holding.problem}")
        return holding.objects


def _is_in(namespace: str, key: str) -> bool:
    found, slash, _ = key.rpartition("/")
    return not slash or found == namespace
