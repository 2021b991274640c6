"""What CustomResourceDefinitions say about a Karta: what they contradict, and the paths of their fields."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final

from karta_interpreter.base.findings import DefinitionError, Finding
from karta_interpreter.base.k8s.gvk import GVK
from karta_interpreter.base.k8s.values import Object
from karta_interpreter.definitions.openapi.check import contradictions
from karta_interpreter.definitions.openapi.draft import CustomKind
from karta_interpreter.definitions.openapi.draft.openapi import entries, fields, is_pod_spec, is_pod_template
from karta_interpreter.definitions.openapi.draft.place import Entries, SchemaPath
from karta_interpreter.web.console.texts import TextError, read_objects

_CRD: Final = "CustomResourceDefinition"
_TEXTS: Final = 2
"""How many texts are kept, read: they stay the same while their user edits the Karta."""
_MOST_PATHS: Final = 2000


@lru_cache(_TEXTS)
def read_crds(text: str) -> tuple[Object, ...]:
    """The CustomResourceDefinitions of a text; raises TextError for one with other objects alone."""
    found = read_objects(text)
    crds = tuple(each for each in found if each["kind"] == _CRD)
    if found and not crds:
        raise TextError(f"there is no {_CRD} in it")
    return crds


@lru_cache(_TEXTS)
def contradicted(karta: str, crd: str) -> Sequence[Finding]:
    """What the CustomResourceDefinitions of a text contradict in the Kartas of another one."""
    return tuple(contradictions(karta, "", read_crds(crd)))


@lru_cache(_TEXTS)
def paths(crd: str, kinds: Sequence[GVK]) -> list[tuple[str, str]]:
    """Return jq paths and types of the fields that the first of these kinds has, or else the first one of the text."""
    found = [kind for each in read_crds(crd) for kind in _kinds(each, kinds)]
    fitting = [kind for kind in found if kind.gvk in kinds] or found
    return list(islice(_paths(SchemaPath(), fitting[0].schema), _MOST_PATHS)) if fitting else []


def _kinds(crd: Object, kinds: Sequence[GVK]) -> Iterator[CustomKind]:
    for version in (None, *(gvk.version for gvk in kinds)):
        try:
            yield CustomKind.of(crd, version)
        except DefinitionError:  # a finding about the Karta
            continue


def _paths(place: SchemaPath, schema: Object) -> Iterator[tuple[str, str]]:
    """Yield the fields below a place; none of those in pods, which no definition has to name."""
    if is_pod_template(schema) or is_pod_spec(schema):
        return
    for name, field in fields(schema):
        yield (place / name).jq, str(field.get("type", ""))
        yield from _paths(place / name, field)
    for container, step in (("items", Entries()), ("additionalProperties", Entries(is_map=True))):
        inner = entries(schema, container)
        if inner is not None:
            yield (place / step).jq, str(inner.get("type", ""))
            yield from _paths(place / step, inner)
