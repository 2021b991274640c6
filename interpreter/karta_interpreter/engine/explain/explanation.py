"""The contents of an explanation: layers and facts, as frozen values that any view can render."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NoReturn

from karta_interpreter.base.findings import Severity, did_you_mean
from karta_interpreter.base.k8s import GVK, JSON, NewObject, Path, json_pointer
from karta_interpreter.engine.operations import Call, Results

OBJECT: Final = "object"
OBSERVED: Final = "observed"
# Longer values are left out of the JSON. Their pointer names their place.
_LONGEST: Final = 400
_STEP: Final = re.compile(r'\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.\[\]]+)')


@dataclass(frozen=True, slots=True)
class Place:
    """A place that was read, with its value, or None if it does not exist.

    ``source`` is the part of the call: ``object``, ``observed``, or ``items`` for the report of a ``cluster``.
    """

    path: Path
    value: JSON = None
    exists: bool = True
    source: str = OBJECT
    cluster: str = ""

    @property
    def pointer(self) -> str:
        """The path as a JSON Pointer (RFC 6901).

        >>> Place(("metadata", "labels", "example.com/queue")).pointer
        '/metadata/labels/example.com~1queue'
        """
        return json_pointer(self.path)

    def to_json(self) -> NewObject:
        """Return the place as JSON, without a long value."""
        document: NewObject = {"cluster": self.cluster} if self.cluster else {"source": self.source}
        document |= {"pointer": self.pointer, "exists": self.exists}
        if self.exists and len(json.dumps(self.value, ensure_ascii=False)) <= _LONGEST:
            document["value"] = self.value
        return document


@dataclass(frozen=True, slots=True)
class Fact:
    """One step from an answer to the object."""

    rule: str
    """The kind of step, as listed in docs/explain.md."""
    note: str
    """The step in words."""
    value: JSON = None
    answer: str = ""
    """The JSON Pointer of the part of the results to which the step contributes, "" for none."""
    component: str = ""
    instance: str = ""
    field: str = ""
    """The path in the definition of the ``expression``."""
    expression: str = ""
    places: tuple[Place, ...] = ()
    """The places that were read, beginning with the place of the value."""
    writes: tuple[str, ...] = ()
    """The JSON Pointers at which another value would be written to the object."""
    severity: Severity | None = None
    """Marks a warning: a path matched nothing."""

    def to_json(self) -> NewObject:
        """Return the fact as JSON, without empty fields."""
        document: NewObject = {"rule": self.rule}
        for name in ("note", "answer", "component", "instance", "field", "expression"):
            if text := getattr(self, name):
                document[name] = text
        if self.value is not None:
            document["value"] = self.value
        if self.places:
            document["places"] = [place.to_json() for place in self.places]
        if self.writes:
            document["writes"] = list(self.writes)
        if self.severity:
            document["severity"] = str(self.severity)
        return document


@dataclass(frozen=True, slots=True)
class InterpreterLayer:
    """One layer of interpreters in Karmada's order. ``answers`` is true for the layer that decides."""

    name: str
    note: str
    answers: bool = False

    def to_json(self) -> NewObject:
        """Return the layer as JSON."""
        return {"name": self.name, "answers": self.answers, "note": self.note}


@dataclass(frozen=True, slots=True)
class Explanation:
    """An answer and the chain from it to the object."""

    call: Call
    definition: str
    gvk: GVK
    layers: tuple[InterpreterLayer, ...]
    facts: tuple[Fact, ...] = ()
    """The steps. If there is an ``error``, the steps up to it."""
    results: Results | None = None
    """The answer itself, None if there is an ``error`` instead."""
    error: str = ""

    if not TYPE_CHECKING:  # a type checker would take it as leave to read any name

        def __getattr__(self, name: str) -> NoReturn:
            """Raise the error of a name that it does not have, and name where a field of the answer is."""
            is_result = name != "results" and name in (self.results or ())
            hint = f'write .results["{name}"]' if is_result else did_you_mean(name, self.__dataclass_fields__)
            raise AttributeError(f"Explanation has no {name}; {hint}", name=name, obj=self)

    @property
    def warnings(self) -> tuple[Fact, ...]:
        """The facts about paths that matched nothing."""
        return tuple(fact for fact in self.facts if fact.severity)

    def to_json(self) -> NewObject:
        """Return the explanation as JSON, without the objects of the call."""
        answer: Mapping[str, JSON] = {"error": self.error} if self.results is None else {"results": self.results}
        return {
            "operation": str(self.call.operation),
            **self.gvk.type_meta,
            "definition": self.definition,
            "layers": [layer.to_json() for layer in self.layers],
            **answer,
            "facts": [fact.to_json() for fact in self.facts],
        }


def path_of(field: str) -> Path:
    """Return the path that a field of an explanation names.

    >>> path_of('metadata.annotations["example.com/a"]'), path_of("childComponents[0].name")
    (('metadata', 'annotations', 'example.com/a'), ('childComponents', 0, 'name'))
    """
    steps = (match.groups() for match in _STEP.finditer(field))
    return tuple(int(index) if index else (quoted or plain) for quoted, index, plain in steps)
