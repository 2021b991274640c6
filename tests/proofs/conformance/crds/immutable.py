"""What members refuse to change: the rules of CRDs are in the facts, and Retain keeps what ReviseReplica writes."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from docs.tools.facts import Immutable, ImmutableField, facts_of
from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.values import Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.openapi.check import contradictions
from karta_interpreter.definitions.openapi.check.immutable import immutable_fields
from karta_interpreter.definitions.openapi.schema import CustomKind
from karta_interpreter.engine.operations import Call, Operation, interpret
from tests.catalogue.entries import Entry, answers, entries
from tests.catalogue.immutable import refused, steps_of, values_at
from tests.catalogue.knowledge import knowing
from tests.catalogue.tables import leaves
from tests.proofs.conformance.crds.references import crds_of

_SHARES: Final = (1, 2, 3, 5, 7, 12)
_CREATING: Final = "oldSelf.hasValue()"
"""How a rule begins that is about new objects only."""


@dataclass
class Tally:
    """The kinds whose CRD was read, the fields that ReviseReplica writes and a member refuses, and what is wrong."""

    kinds: int = 0
    rules: int = 0
    written: set[str] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        written = f"ReviseReplica writes {len(self.written)} of them: {', '.join(sorted(self.written))}"
        return f"{self.kinds} CRDs have {self.rules} rules about the object before\n  {written}"

    def failures(self) -> Iterator[str]:
        """Yield what is wrong."""
        yield from self.wrong
        if not (self.kinds and self.written):
            yield "nothing was compared"


def compare(files: Iterable[Path]) -> Tally:
    """Compare the CRDs of all kinds with their facts, and what is written with what is kept."""
    tally, crds = Tally(), crds_of(files)
    for entry in entries():
        assert entry.definition
        gvk = entry.definition.gvk
        for crd in crds.get((gvk.group, gvk.kind), ()):
            if any(version["name"] == gvk.version for version in crd["spec"]["versions"]):
                tally.kinds += 1
                _compare_crd(tally, entry, crd)
        if answers(Operation.REVISE_REPLICA)(entry):
            _compare_written(tally, entry)
    return tally


def _compare_crd(tally: Tally, entry: Entry, crd: Object) -> None:
    """Compare the rules of a CRD with the facts of the kind."""
    assert entry.definition
    gvk = entry.definition.gvk
    schema = CustomKind.of(crd, gvk.version).schema
    known = [steps_of(each.field) for each in _fields(entry.definition) if each.by == "crd"]
    places = [path.jq for path in immutable_fields(schema)]
    places += [place for place, rule in _rules("", schema) if not rule.startswith(_CREATING)]
    for place in dict.fromkeys(places):
        tally.rules += 1
        if not any(_meet(steps_of(place), steps) for steps in known):
            tally.wrong.append(f"{gvk}: the facts lack {place}, which the CRD has a rule about (oldSelf)")
    found = contradictions(entry.text, str(gvk), [crd])
    tally.wrong += [f"{gvk}: {each.message}; {each.hint}" for each in found if each.rule == "crd-immutable"]


def _rules(place: str, schema: Object) -> Iterator[tuple[str, str]]:
    """Yield each rule of a schema about the object before, with the place that it stands at."""
    for rule in schema.get("x-kubernetes-validations") or ():
        if "oldSelf" in rule["rule"] and not place.endswith(".manager"):  # the key of a list
            yield place, rule["rule"]
    for name, part in (schema.get("properties") or {}).items():
        yield from _rules(f"{place}.{name}", part)
    for name in ("items", "additionalProperties"):
        if isinstance(part := schema.get(name), dict):
            yield from _rules(f"{place}[]", part)


def _compare_written(tally: Tally, entry: Entry) -> None:
    """Compare what ReviseReplica writes with the fields that a member refuses, and these with what Retain keeps."""
    definition = entry.definition
    assert definition
    written = {
        path for obj in entry.objects for revised in _revised(definition, obj) for path in _changed(obj, revised)
    }
    for known in _fields(definition):
        if not known.is_kept and any(_meet(steps_of(known.field), [*path]) for path in written):
            tally.wrong.append(
                f"{definition.gvk}: ReviseReplica writes {known.field}, and Retain sends it: {known.source}"
            )
    for pair in refused():
        if pair.definition.gvk != definition.gvk:
            continue
        steps = steps_of(pair.field.field)
        for revised in _revised(definition, pair.member):
            if values_at(revised, steps) == values_at(pair.member, steps):
                continue
            tally.written.add(pair.name)
            call = Call(Operation.RETAIN, revised, pair.member)
            retained = interpret(knowing(definition, revised), call)["retained"]
            if values_at(retained, steps) != values_at(pair.member, steps):
                tally.wrong.append(f"{pair.name}: Retain sends another share, which the member refuses")


def _fields(definition: Definition) -> Iterable[ImmutableField]:
    return (facts_of(definition.gvk).immutable or Immutable()).fields


def _revised(definition: Definition, obj: Object) -> Iterator[Object]:
    """Yield an object with other shares, as far as it can have them."""
    for share in _SHARES:
        with suppress(InterpretationError):
            yield interpret(knowing(definition, obj), Call(Operation.REVISE_REPLICA, obj, replicas=share))["revised"]


def _changed(before: Object, after: Object) -> Iterator[tuple[str, ...]]:
    """Yield the paths of the values that are new or others, with "[]" for the elements of lists."""
    known = dict(leaves(before))
    for path, value in leaves(after):
        if path not in known or known[path] != value:
            yield tuple("[]" if isinstance(step, int) else step for step in path)


def _meet(some: list[str], others: list[str]) -> bool:
    """Return whether one path is the other, or leads through it."""
    return all(one == other for one, other in zip(some, others, strict=False))
