"""What an explanation holds: layers and facts, as frozen values that any view can render."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from karta_interpreter.base.findings import Severity
from karta_interpreter.base.k8s.values import GVK, JSON, Path, json_pointer
from karta_interpreter.engine.operations import Call, Results

OBJECT: Final = "object"
OBSERVED: Final = "observed"
_LONGEST: Final = 400
"""Longer values are left out of the JSON: their pointer names where they are."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place that was read, with its value, None where it does not exist.

    ``source`` is the part of the call: ``object``, ``observed``, or ``items`` for what a ``cluster`` reports.
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

    def to_json(self) -> dict[str, JSON]:
        """Return the place as JSON, without a value that is long."""
        where = {"cluster": self.cluster} if self.cluster else {"source": self.source}
        is_short = len(json.dumps(self.value, ensure_ascii=False)) <= _LONGEST
        value = {"value": self.value} if self.exists and is_short else {}
        return {**where, "pointer": self.pointer, "exists": self.exists, **value}


@dataclass(frozen=True, slots=True)
class Fact:
    """One step from an answer to the object."""

    rule: str
    """The kind of step; docs/explain.md lists them."""
    note: str
    """The step in words."""
    value: JSON = None
    """What the step gives."""
    answer: str = ""
    """The JSON Pointer of the part of the results to which it contributes, "" for none."""
    component: str = ""
    instance: str = ""
    field: str = ""
    """The path of the definition that has the ``expression``."""
    expression: str = ""
    places: tuple[Place, ...] = ()
    """What was read, the first one where the value stands."""
    writes: tuple[str, ...] = ()
    """The JSON Pointers of the object at which another value is written back."""
    severity: Severity | None = None
    """Marks a warning: a path matched nothing."""

    def to_json(self) -> dict[str, JSON]:
        """Return the fact as JSON, without what is empty."""
        texts = {
            name: getattr(self, name) for name in ("note", "answer", "component", "instance", "field", "expression")
        }
        return {
            "rule": self.rule,
            **{name: text for name, text in texts.items() if text},
            **({} if self.value is None else {"value": self.value}),
            **({"places": [place.to_json() for place in self.places]} if self.places else {}),
            **({"writes": list(self.writes)} if self.writes else {}),
            **({"severity": str(self.severity)} if self.severity else {}),
        }


@dataclass(frozen=True, slots=True)
class InterpreterLayer:
    """One layer of interpreters that Karmada asks in this order; ``answers`` is true for the one that decides."""

    name: str
    note: str
    answers: bool = False

    def to_json(self) -> dict[str, JSON]:
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
    """The steps; with an ``error`` those up to where it happened."""
    results: Results | None = None
    """The answer itself, None where there is an ``error`` instead."""
    error: str = ""

    @property
    def warnings(self) -> tuple[Fact, ...]:
        """The facts about paths that matched nothing."""
        return tuple(fact for fact in self.facts if fact.severity)

    def to_json(self) -> dict[str, JSON]:
        """Return the explanation as JSON; the objects of the call are left out."""
        answer: Mapping[str, JSON] = {"error": self.error} if self.results is None else {"results": self.results}
        return {
            "operation": str(self.call.operation),
            **self.gvk.type_meta,
            "definition": self.definition,
            "layers": [layer.to_json() for layer in self.layers],
            **answer,
            "facts": [fact.to_json() for fact in self.facts],
        }
