"""One Karta object of a cluster over its versions."""

from dataclasses import dataclass, replace
from typing import Self

from karta_interpreter.errors import DefinitionError
from karta_interpreter.findings import error
from karta_interpreter.k8s import edit
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.karta.definition import Definition
from karta_interpreter.karta.loading import Loaded, load_definition
from karta_interpreter.karta.schema import gvk_of, name_of


@dataclass(frozen=True, slots=True)
class ClusterKarta:
    """A Karta, or ResourceInterface, of a cluster as it was last seen.

    ``source`` names it in findings, as ``kartas.run.ai/name``; ``path`` is that of the object in the API server.
    ``last_good`` is the definition before the present content, which is broken.
    """

    source: str
    path: str
    obj: Object
    loaded: Loaded
    last_good: Loaded | None = None

    @classmethod
    def first_seen(cls, source: str, path: str, obj: Object) -> Self:
        """A new object."""
        return cls(source, path, obj, load_object(obj, source))

    def seen_again(self, obj: Object) -> Self:
        """The same Karta with a newer version of its object, which is compiled only when its meaning has changed.

        An object that was deleted and created anew is another one.
        """
        if edit.get(obj, ("metadata", "uid")) != edit.get(self.obj, ("metadata", "uid")):
            return self.first_seen(self.source, self.path, obj)
        if _meaning(obj) == _meaning(self.obj):
            return replace(self, obj=obj)
        loaded = load_object(obj, self.source)
        return replace(self, obj=obj, loaded=loaded, last_good=None if loaded.definition else self.served)

    @property
    def served(self) -> Loaded | None:
        """The version to use; None when there was no good one."""
        return self.loaded if self.loaded.definition else self.last_good

    @property
    def age(self) -> tuple[str, str]:
        """A key that sorts the oldest first."""
        return str(edit.get(self.obj, ("metadata", "creationTimestamp"), "")), self.source


def load_object(obj: Object, source: str) -> Loaded:
    """The definition of one Karta object, or its findings; nothing is raised."""
    definition: Definition | None = None
    try:
        definition = load_definition(obj, source)
        findings = definition.findings
    except DefinitionError as err:
        findings = err.findings
    except Exception as err:  # noqa: BLE001 - an error of one object does not affect the others
        findings = (error("unreadable", (), f"cannot be read: {type(err).__name__}: {err}"),)
    findings = tuple(replace(finding, source=source) for finding in findings)
    return Loaded(definition and replace(definition, findings=findings), findings, name_of(obj), gvk_of(obj), source)


def _meaning(obj: Object) -> tuple[JSON, JSON]:
    """The parts that a definition is compiled from; ``metadata.generation`` does not count annotations."""
    return obj.get("spec"), edit.get(obj, ("metadata", "annotations"))
