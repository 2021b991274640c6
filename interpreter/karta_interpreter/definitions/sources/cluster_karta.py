"""A Karta of a cluster: its object as it was last seen, and the compiled definition."""

import marshal
from dataclasses import replace
from typing import Self

from msgspec import Struct, structs

from karta_interpreter.base.findings import error
from karta_interpreter.base.k8s import Object, edit
from karta_interpreter.definitions.karta import loading, name_of
from karta_interpreter.definitions.sources.karta_loading import load_object


class ClusterKarta(Struct, frozen=True):
    """A Karta of a cluster as it was last seen."""

    source: str
    """Its name in findings, such as ``kartas.run.ai/name``."""
    obj: Object
    loaded: loading.Loaded
    last_good: loading.Loaded | None = None
    """The definition before the present content, which is broken."""

    @classmethod
    def first_seen(cls, source: str, obj: Object) -> Self:
        """Return the Karta of a new object."""
        return cls(source, obj, load_object(obj, source))

    def seen_again(self, obj: Object) -> Self:
        """Return the Karta with a newer version of its object. Compile it only if its meaning has changed.

        An object that was deleted and created anew is a different object.
        """
        if edit.get(obj, ("metadata", "uid")) != edit.get(self.obj, ("metadata", "uid")):
            return self.first_seen(self.source, obj)
        if obj is self.obj or _meaning(obj) == _meaning(self.obj):
            return structs.replace(self, obj=obj)
        loaded = load_object(obj, self.source)
        return structs.replace(self, obj=obj, loaded=loaded, last_good=None if loaded.definition else self.served)

    def without_room(self, stub: Object, reason: str) -> Self:
        """Return the Karta with the stub of a newer version, which has no room. This version is its last good one.

        An object that was deleted and created anew is a different object.
        """
        is_same = edit.get(stub, ("metadata", "uid")) == edit.get(self.obj, ("metadata", "uid"))
        left_out = self.left_out(self.source, stub, reason)
        return structs.replace(left_out, last_good=self.served if is_same else None)

    @classmethod
    def left_out(cls, source: str, stub: Object, reason: str) -> Self:
        """Return the Karta of an object that has no room."""
        finding = replace(error("unreadable", (), f"cannot be read: {reason}"), source=source)
        return cls(source, stub, loading.Loaded(None, (finding,), name_of(stub), None, source))

    @property
    def served(self) -> loading.Loaded | None:
        """The version to use, None if there was no good version."""
        return self.loaded if self.loaded.definition else self.last_good

    @property
    def age(self) -> tuple[str, str]:
        """A key that sorts the oldest first."""
        # UTC times in one format sort as text. The name decides between Kartas of the same second.
        return str(edit.get(self.obj, ("metadata", "creationTimestamp"), "")), self.source


def _meaning(obj: Object) -> bytes:
    """Return the parts that a definition is compiled from. ``metadata.generation`` does not count annotations."""
    # As bytes: to Python, true is 1 and false is 0. Not JSON: orjson reads deeper nested objects than Python writes.
    # Later versions also write which values are the same object.
    return marshal.dumps([obj.get("spec"), edit.get(obj, ("metadata", "annotations"))], 0)
