"""The objects that suites have for definitions to look up, for tests that make objects of their own."""

from collections.abc import Iterable

from karta_interpreter.base.k8s.values import GVK, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.reference_resolver import Known, resolved
from karta_interpreter.engine.suites.suite import Case

_known: dict[GVK, Known] = {}


def remember(definition: Definition, cases: Iterable[Case]) -> None:
    """Know what the cases of a definition refer to; the first object of a name is the one."""
    _known[definition.gvk] = Known.of(obj for case in cases for obj in case.references)


def knowing(definition: Definition, obj: Object) -> Definition:
    """The definition with what it looks up for an object."""
    return resolved(definition, obj, _known.get(definition.gvk, Known({})))
