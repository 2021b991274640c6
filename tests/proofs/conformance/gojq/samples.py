"""The catalogue's definitions, and workloads and pods for them that nobody wrote."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any, Self
from zlib import crc32

from karta_interpreter import Karta, Workload
from karta_interpreter.base.errors import InterpreterError
from karta_interpreter.base.k8s.manifest import read_documents
from karta_interpreter.base.k8s.values import JSON, Object
from karta_interpreter.definitions.karta.expression_text import PodQuery
from karta_interpreter.definitions.karta.schema_types import Schema
from karta_interpreter.languages.jq import Query, Unresolved, field_names, parse
from karta_interpreter.languages.jq.syntax import Identity, Index, Iterate, Literal, Node, Pipe
from karta_interpreter.languages.jq.syntax.traversal import children
from tests.catalogue.entries import entries
from tests.proofs.conformance.mutation import mutate

Place = tuple[str | None, ...]
"""Field names from the root of an object; None stands for any element of a list or object."""

_ODD: Sequence[JSON] = (
    *(None, True, False, 0, 1, 2, 3, -1, 2.5, 7, 999, 100000, 1000000, 123456789, 2**31 - 1, 2**31, 2**53 + 1, 1e21),
    *("", "0", "1", "-0", "+5", "-3", "2.0", " 4", "0x10", "1e3", "true", "null", "True", "False", "Unknown", "a-b-c"),
    *([], {}, [None], [{}], {"name": None}, [1, "x"], "é-\U0001f600", 'say "no"', "v2.6.11"),
)


_KEYS: Sequence[JSON] = (True, True, False, 1, 4, 8080, 999999, 1000000, 1.5, "x")
_TOLD = 0.7
"""How many of the places that a definition looks at in a pod are there."""


@dataclass(frozen=True)
class Sample:
    """A definition of the catalogue, and the objects of its suites, each with what the definition looks up for it."""

    karta: Karta
    cases: Sequence[tuple[Object, Sequence[Object]]]

    @classmethod
    def catalogue(cls) -> Iterator[Self]:
        """One for each definition."""
        for entry in entries():
            assert entry.definition
            yield cls(Karta(entry.definition), [(case.call.object, case.references) for case in entry.cases])

    @classmethod
    def made_up(cls) -> Iterator[Self]:
        """One for each definition of definitions.yaml."""
        file = Path(__file__).parent / "definitions.yaml"
        for document in read_documents(file.read_text(), file.name):
            karta = Karta.load({"apiVersion": "run.ai/v1alpha1", "kind": "Karta", **document.value["karta"]})
            whole = {"apiVersion": karta.gvk.api_version, "kind": karta.gvk.kind, "metadata": {"name": "toy"}}
            yield cls(karta, [({**whole, **obj}, ()) for obj in document.value["objects"]])

    @cached_property
    def texts(self) -> Sequence[str]:
        """Every text that the definition compares something with."""
        strings = {part for part in _parts(self.karta.definition) if type(part) is str}
        nodes = [parse(part.text) for part in _parts(self.karta.definition) if isinstance(part, Query | PodQuery)]
        literals = {node.value for top in nodes for node in _below(top) if isinstance(node, Literal)}
        return sorted(strings | {literal for literal in literals if isinstance(literal, str)})

    @cached_property
    def places(self) -> Sequence[Place]:
        """Where the expressions look in a workload, as far as that can be told from their text."""
        return _places(part.text for part in _parts(self.karta.definition) if isinstance(part, Query))

    @cached_property
    def pod_places(self) -> Sequence[Place]:
        """Where the expressions look in a pod."""
        selectors = [each.selector.component_type for each in self.karta.definition.components]
        labels = [label for selector in selectors if selector for label in selector.labels]
        expressions = _places(part.text for part in _parts(self.karta.definition) if isinstance(part, PodQuery))
        found = [*expressions, *(("metadata", "labels", label) for label in labels)]
        return [place for place in found if len(place) > 1 and place[-1] != "labels"]

    def workloads(self, mutants: int) -> Iterator[Workload]:
        """The objects of the suites and, of each, so many changed copies; the same every time."""
        for number, (obj, references) in enumerate(self.cases):
            for mutant in range(mutants + 1):
                chance = _chance(self.karta.name, number, mutant)
                changed = self._changed(obj, chance) if mutant else obj
                workload = self._workload(changed, references)
                if workload is not None:
                    yield workload

    def pods(self, workload: Workload, number: int, seed: object) -> Iterator[Object]:
        """Pods that say something where the definition looks."""
        chance = _chance(self.karta.name, seed)
        pools = [self.texts, [*_strings(workload.object)], _ODD, _KEYS]
        for _ in range(number):
            pod: Object = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod-0", "labels": {}}}
            for place in self.pod_places:
                if chance.random() < _TOLD:
                    value = deepcopy(chance.choice(chance.choice(pools)))
                    _put(pod, place, value, chance)
            yield pod

    def _changed(self, obj: Object, chance: Random) -> Object:
        if chance.random() < 0.4:
            changed = mutate(obj, chance.randrange(2**32))
        else:
            changed = deepcopy(obj)
            for place in chance.sample(self.places, min(len(self.places), chance.choice((1, 1, 2, 3, 5)))):
                value = chance.choice(self.texts) if chance.random() < 0.3 else deepcopy(chance.choice(_ODD))
                _put(changed, place, value, chance)
        # Without these it is not a workload at all.
        metadata = changed.get("metadata")
        kept = metadata if isinstance(metadata, dict) else {}
        return {**changed, **{key: obj[key] for key in ("apiVersion", "kind")}, "metadata": {**kept, "name": "toy"}}

    def _workload(self, obj: Object, references: Sequence[Object]) -> Workload | None:
        """The workload, None where it looks up what is not known: there is nothing to ask gojq then."""
        workload = Workload(self.karta, obj)
        if not self.karta.definition.references:
            return workload
        try:
            workload = workload.with_references(references)
        except InterpreterError:
            return None
        values = [query.values.get(name) for query in queries(workload) for name in query.variables]
        return None if any(isinstance(value, Unresolved) for value in values) else workload


def queries(workload: Workload) -> list[Query]:
    """Each expression about the workload once."""
    return list(dict.fromkeys(part for part in _parts(workload.karta.definition) if isinstance(part, Query)))


def pod_queries(workload: Workload) -> list[PodQuery]:
    """Each expression about pods once."""
    return list(dict.fromkeys(part for part in _parts(workload.karta.definition) if isinstance(part, PodQuery)))


def _chance(*seed: object) -> Random:
    return Random(crc32(repr(seed).encode()))  # noqa: S311 - the same samples every time is what is wanted


def _parts(value: Any) -> Iterator[Any]:
    """Expressions and texts, wherever in a definition they stand."""
    if isinstance(value, Enum):
        return
    if isinstance(value, Query | PodQuery | str):
        yield value
    elif isinstance(value, Mapping | Schema):
        for item in dict(value).values():
            yield from _parts(item)
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _parts(item)
    else:
        for name in field_names(value):
            if name not in ("manifest", "scripts", "findings"):
                yield from _parts(getattr(value, name))


def _below(node: Node) -> Iterator[Node]:
    yield node
    for child in children(node):
        yield from _below(child)


def _places(texts: Iterable[str]) -> list[Place]:
    found: dict[Place, None] = {}
    for text in texts:
        _follow(parse(text), [()], found)
    return [place for place in found if place]


def _follow(node: Node, inputs: list[Place], found: dict[Place, None]) -> list[Place]:
    """The places that a part of an expression gives for its inputs, none where it computes something."""
    match node:
        case Identity():
            return inputs
        case Pipe(left, right):
            return _follow(right, _follow(left, inputs, found), found)
        case Index(target, Literal(str() as name)):
            outputs: list[Place] = [(*place, name) for place in _follow(target, inputs, found)]
        case Iterate(target):
            outputs = [(*place, None) for place in _follow(target, inputs, found)]
        case _:
            for child in children(node):
                _follow(child, inputs, found)
            return inputs if getattr(node, "name", "") in ("select", "first", "strings") else []
    found.update(dict.fromkeys(outputs))
    return outputs


def _put(container: Any, place: Place, value: JSON, chance: Random) -> None:
    """Set a place of an object, as far as there are containers on the way to it."""
    first, *rest = place
    if first is None:
        keys: Sequence[Any] = list(container) if isinstance(container, dict) else range(len(container))
        if not keys:
            return
        first = chance.choice(keys)
    elif not isinstance(container, dict):
        return
    if not rest:
        container[first] = value
        return
    inner = container.get(first) if isinstance(container, dict) else container[first]
    if not isinstance(inner, dict | list):
        inner = [] if rest[0] is None else {}
        container[first] = inner
    _put(inner, tuple(rest), value, chance)


def _strings(value: JSON) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)
