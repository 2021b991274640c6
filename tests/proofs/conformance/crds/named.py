"""What an object can name is in the answer of InterpretDependency, or a reason says why not.

The fields are those of each CRD, or of the package's schema of a kind without one. A name is written into every field
that can name another object, in the objects of the suite and in one that has nothing else. Reasons are in the facts of
a kind, and in named.yaml those of several kinds.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

from docs.tools.facts import facts_of
from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.values import JSON, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.openapi.catalogue import catalogue_schemas
from karta_interpreter.definitions.openapi.schema import CustomKind, fields
from karta_interpreter.engine.operations import Call, Operation, interpret
from tests.catalogue.entries import Entry, answers, entries
from tests.catalogue.knowledge import knowing
from tests.proofs.conformance.crds.objects import smallest
from tests.proofs.conformance.crds.references import crds_of
from tests.proofs.conformance.reasons import Reasons

_Steps: TypeAlias = tuple[str, ...]

_NAME: Final = "named-by-a-field"
_NAMES: Final = re.compile(r"\w+(Refs?|Names?)|\w*([sS]ecrets?|[cC]onfigMaps?|[cC]laims?|pvcs?|[sS]erviceAccounts?)")
"""Fields that are a name."""
_HOLDERS: Final = re.compile(r"(?i)(refs?|references?|secrets?|configmaps?|claims?|pvcs?|snapshots?|serviceaccounts?)$")
"""How fields end whose field ``name`` is one."""
_KINDS: Final = {"apiVersion", "apiGroup", "group"}
"""Fields beside ``name`` that say of which kind another object is."""
_OUTSIDE: Final = {"apiVersion", "kind", "metadata", "status"}
_OF_NOBODY: Final = {"ownerReferences", "status"}
_ITEMS, _VALUES = "[]", "*"
_BELOW: Final = {_ITEMS: "items", _VALUES: "additionalProperties"}
_DEEPEST: Final = 24


@dataclass
class Tally:
    """The kinds whose fields were asked, how many can name an object and do, and the others."""

    kinds: int = 0
    named: int = 0
    without: list[str] = field(default_factory=list)
    unnamed: Reasons = field(default_factory=lambda: Reasons(Path(__file__).with_suffix(".yaml")))
    used: dict[str, bool] = field(default_factory=dict)

    def __str__(self) -> str:
        without = f"no schema of {', '.join(self.without) or 'none'}"
        return f"{self.named} fields of {self.kinds} kinds are named; others: {self.unnamed}\n  {without}"

    def failures(self) -> Iterator[str]:
        """Yield each field that no answer names without a reason, and reasons of none."""
        yield from self.unnamed.failures()
        yield from (f"{each}: it is named, remove the reason" for each, is_used in self.used.items() if not is_used)
        if not self.named:
            yield "no field was asked"


def compare(files: Iterable[Path]) -> Tally:
    """Ask about every field of all kinds that can name an object."""
    tally, crds = Tally(), crds_of(files)
    for entry in filter(answers(Operation.INTERPRET_DEPENDENCY), entries()):
        assert entry.definition
        gvk = entry.definition.gvk
        known = [crd for crd in crds.get(gvk[::2], ()) if gvk.version in _versions(crd)]
        schema = CustomKind.of(known[0], gvk.version) if known else catalogue_schemas().get(gvk)
        if schema:
            tally.kinds += 1
            _ask(entry, schema.schema, tally)
        else:
            tally.without.append(str(gvk))
    return tally


def _versions(crd: Object) -> list[str]:
    return [version["name"] for version in crd["spec"]["versions"]]


def _ask(entry: Entry, schema: Object, tally: Tally) -> None:
    assert entry.definition
    gvk = entry.definition.gvk
    reasons = {pattern: f"the facts of {gvk.group} {gvk.kind}, {pattern}" for pattern in facts_of(gvk).unnamed}
    tally.used = dict.fromkeys(reasons.values(), False) | tally.used
    outside = {name: part for name, part in fields(schema) if name not in _OUTSIDE}
    objects = list({str(case.call.object): case.call.object for case in entry.cases}.values())
    bare = {**gvk.type_meta, "metadata": {"name": "a", "namespace": "b"}}
    for steps in dict.fromkeys(_places({"properties": outside})):
        name = "".join(step if step == _ITEMS else f".{step}" for step in steps)
        if any(_is_named(entry.definition, _with_name(obj, schema, steps)) for obj in (*objects, bare)):
            tally.named += 1
        elif matching := [each for each in reasons if _fits(each, name)]:
            tally.used |= {reasons[each]: True for each in matching}
        else:
            tally.unnamed.count(f"{gvk.kind} {name}", str(gvk))


def _fits(pattern: str, name: str) -> bool:
    return bool(re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name))


def _places(schema: Object, steps: _Steps = ()) -> Iterator[_Steps]:
    """Yield the paths of the texts that can name another object."""
    if len(steps) > _DEEPEST or not _OF_NOBODY.isdisjoint(steps):
        return
    known = dict(fields(schema))
    holder = next((step for step in reversed(steps) if step not in _BELOW), "")
    is_reference = bool(_HOLDERS.search(holder) or ("kind" in known and _KINDS & known.keys()))
    for name, part in known.items():
        if is_reference if name == "name" else _NAMES.fullmatch(name):
            yield from ((*steps, name, *below) for below in _texts(part))
        yield from _places(part, (*steps, name))
    for step, container in _BELOW.items():
        if isinstance(inner := schema.get(container), dict):
            yield from _places(inner, (*steps, step))


def _texts(schema: Object) -> Iterator[_Steps]:
    if schema.get("type") == "string" and not schema.get("enum"):
        yield ()
    elif schema.get("type") == "array" and schema["items"].get("type") == "string":
        yield (_ITEMS,)


def _with_name(value: JSON, schema: Object, steps: _Steps) -> JSON:
    """Return a value with the name at all places of a path, and what the schema requires on the way."""
    if not steps:
        return _NAME
    step, *below = steps
    if step in _BELOW:
        inner = schema.get(_BELOW[step]) or {}
        if step == _ITEMS:
            return [_with_name(each, inner, (*below,)) for each in value or [None]]
        return {key: _with_name(each, inner, (*below,)) for key, each in (value or {"a": None}).items()}
    if not isinstance(value, dict):
        made = smallest(schema)
        value = made if isinstance(made, dict) else {}
    return {**value, step: _with_name(value.get(step), dict(fields(schema)).get(step, {}), (*below,))}


def _is_named(definition: Definition, obj: Object) -> bool:
    with suppress(InterpretationError):
        found = interpret(knowing(definition, obj), Call(Operation.INTERPRET_DEPENDENCY, obj))["dependencies"]
        return any(_NAME in each.get("name", "") for each in found)
    return False
