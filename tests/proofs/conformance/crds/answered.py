"""No valid object is refused, and none is counted as nothing: objects made from the schemas of the CRDs are answered.

Karmada makes no binding after an error of InterpretReplica, sends no update after one of Retain, and gives the whole of
a workload without pods to every cluster. expected.yaml has the reason of each error and 0 by the controller's source.

What a template sets goes out, and what it drops does not come back from the member. kept.yaml has the fields that
Retain keeps all the same.
"""

import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.values import GVK, JSON, Object, field_path
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.operations import Call, Operation, interpret
from tests.catalogue.entries import Entry, entries, has_pods
from tests.catalogue.knowledge import knowing
from tests.proofs.conformance.crds.objects import optional, smallest, with_field
from tests.proofs.conformance.crds.references import crds_of
from tests.proofs.conformance.crds.validator import validated
from tests.proofs.conformance.reasons import Reasons

_FOLDER = Path(__file__).parent
_MOST_FIELDS = 300
_PAIRS = 100
_LEAST = "required fields"
_COUNTS = (Operation.INTERPRET_REPLICA, Operation.INTERPRET_COMPONENT)


@dataclass
class Tally:
    """What was asked, and what needs a reason."""

    kinds: int = 0
    asked: int = 0
    exchanged: int = 0
    invalid: int = 0
    wrong: Reasons = field(default_factory=lambda: Reasons(_FOLDER / "expected.yaml"))
    kept: Reasons = field(default_factory=lambda: Reasons(_FOLDER / "kept.yaml"))

    def __str__(self) -> str:
        answered = f"{self.asked} made objects of {self.kinds} kinds are answered, {self.invalid} left out as not valid"
        return f"{answered}; {self.wrong}\n{self.exchanged} updates of them retained; fields kept: {self.kept}"

    def failures(self) -> Iterator[str]:
        """Yield each unexplained outcome with its shortest example, and rows that explain nothing."""
        yield from self.wrong.failures()
        yield from self.kept.failures()
        if not self.kinds:
            yield "no object was made"


def compare(program: Path, files: Sequence[Path]) -> Tally:
    """Ask about made objects of all kinds with a CRD."""
    tally, known, made = Tally(), crds_of(files), list[_Made]()
    for entry in entries():
        definition = entry.definition
        assert definition
        schemas = [schema for crd in known.get(definition.gvk[::2], ()) if (schema := _schema(crd, definition.gvk))]
        if schemas:
            tally.kinds += 1
            bases = [smallest(schemas[0]), *_samples(entry)]
            made += [
                _Made(definition, *each, base)
                for base in bases
                for each in _specs(schemas[0], base, str(definition.gvk))
            ]
    stored: Object = {}
    for each, spec in _valid(program, files, made, tally):
        _ask(each, spec, tally)
        if each.why == _LEAST:
            stored = {"of": each.least, "spec": spec}
        elif stored.get("of") is each.least and each.definition.answers(Operation.RETAIN):
            _exchange(each, stored["spec"], spec, tally)
    return tally


class _Made(NamedTuple):
    """A spec, the fields that are switched on in it, and the spec without them."""

    definition: Definition
    spec: JSON
    why: str
    least: JSON


def _samples(entry: Entry) -> Iterator[Object]:
    """Yield the spec of the shortest object of the suite that has pods."""
    assert entry.definition
    objects = [case.call.object for case in entry.cases if case.call.operation is Operation.INTERPRET_REPLICA]
    specs = [obj["spec"] for obj in objects if obj.get("spec")]
    ask = partial(_outcome, entry.definition, Operation.INTERPRET_REPLICA)
    counted = [spec for spec in specs if not ask(_object(entry.definition, spec))]
    if counted:
        yield min(counted, key=lambda spec: len(json.dumps(spec)))


def _object(definition: Definition, spec: JSON) -> Object:
    return {**definition.gvk.type_meta, "metadata": {"name": "a", "namespace": "b", "uid": "u"}, "spec": spec}


def _schema(crd: Object, gvk: GVK) -> Object | None:
    versions = {version["name"]: version for version in crd["spec"]["versions"]}
    found = versions.get(gvk.version, {}).get("schema", {}).get("openAPIV3Schema", {})
    spec: Object | None = found.get("properties", {}).get("spec")
    return spec


def _specs(schema: Object, least: JSON, seed: str) -> list[tuple[JSON, str]]:
    """Return a spec, and others with one or two more fields, each with these fields."""
    chance = random.Random(seed)  # noqa: S311 - the same objects each time
    alone = [*optional(schema)]
    alone = chance.sample(alone, min(len(alone), _MOST_FIELDS))
    specs = [(least, _LEAST)]
    made = [(path, with_field(schema, least, path, smallest(below))) for path, below in alone]
    specs += [(spec, field_path(path)) for path, spec in made]
    for _ in range(_PAIRS if len(alone) > 1 else 0):
        (one, below), (other, beside) = chance.sample(alone, 2)
        if one[: len(other)] != other and other[: len(one)] != one:
            spec = with_field(schema, least, one, smallest(below))
            spec = with_field(schema, spec, other, smallest(beside))
            specs.append((spec, f"{field_path(one)} and {field_path(other)}"))
    return specs


def _valid(program: Path, files: Iterable[Path], made: Sequence[_Made], tally: Tally) -> Iterator[tuple[_Made, Object]]:
    """Yield what an API server stores, with its defaults."""
    objects = ({**each.definition.gvk.type_meta, "spec": each.spec} for each in made)
    for each, answer in zip(made, validated(program, files, objects), strict=True):
        if answer is None or answer["refused"]:
            tally.invalid += 1
        else:
            yield each, answer["stored"]


def _ask(made: _Made, spec: Object, tally: Tally) -> None:
    definition, gvk = made.definition, made.definition.gvk
    obj = _object(definition, spec)
    tally.asked += 1
    for operation in (*_COUNTS, Operation.INTERPRET_DEPENDENCY, Operation.RETAIN):
        if definition.answers(operation) and (outcome := _outcome(definition, operation, obj)):
            tally.wrong.count(f"{gvk.kind} {operation}: {outcome}", f"{gvk}: {made.why}: {json.dumps(spec)}", spec)


def _exchange(made: _Made, less: Object, more: Object, tally: Tally) -> None:
    """Compare what Retain sends with the template: one that sets the fields, and one that has dropped them."""
    for template, member in ((more, less), (less, more)):
        desired, observed = (_object(made.definition, spec) for spec in (template, member))
        call = Call(Operation.RETAIN, desired, observed=observed)
        try:
            retained = interpret(knowing(made.definition, desired), call)["retained"]
        except InterpretationError as error:
            tally.wrong.count(f"{made.definition.gvk.kind} {Operation.RETAIN}: {error}", made.why)
            continue
        tally.exchanged += 1
        for name in {name for name, _ in {*_leaves(template)} ^ {*_leaves(retained["spec"])}}:
            tally.kept.count(f"{made.definition.gvk.kind} {name}.", f"{made.why}: {json.dumps(template)}")


def _leaves(value: JSON, name: str = ".spec") -> Iterator[tuple[str, str]]:
    """Yield the values in a spec, each with its field; what is empty has none."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _leaves(part, f"{name}.{key}")
    elif isinstance(value, list):
        for part in value:
            yield from _leaves(part, f"{name}[]")
    else:
        yield name, json.dumps(value)


def _outcome(definition: Definition, operation: Operation, obj: Object) -> str:
    """Return what is wrong with an answer, "" for nothing."""
    call = Call(operation, obj, observed=obj if operation is Operation.RETAIN else None)
    try:
        results: Mapping[str, JSON] = interpret(knowing(definition, obj), call)
    except InterpretationError as error:
        return re.sub(r"`.*?`", "`…`", str(error))
    if operation is Operation.RETAIN:
        return "" if results["retained"] == obj else "another object"
    if operation not in _COUNTS or not has_pods(definition):
        return ""
    components = results.get("components")
    count = results["replica"] if components is None else sum(each["replicas"] for each in components)
    return "" if count else "0 pods"
