"""The entries of the annotation ``dependencies``, read and judged."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from karta_interpreter.errors import InterpretationError
from karta_interpreter.findings import Finding, error
from karta_interpreter.jq import Query
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import JSON, type_name
from karta_interpreter.karta.annotations import PREFIX, ExtraDependency, MadeClaims, MorePods
from karta_interpreter.suggestion import did_you_mean

Needed: TypeAlias = ExtraDependency | MorePods | MadeClaims

_FIELDS: Final = ("apiVersion", "kind", "name", "namespace")
_ALONE: Final[Mapping[str, Callable[[Query], Needed]]] = {"pods": MorePods, "claims": MadeClaims}
"""Fields that stand alone in an entry."""


def read_dependency(index: int, entry: JSON, compiled: Callable[[str], Query | None]) -> Iterator[Needed | Finding]:
    """Yield what an entry says, and what is wrong with it; ``compiled`` finds fault with jq itself."""
    problems = list(_problems(entry))
    for message, hint in problems:
        path = ("metadata", "annotations", f"{PREFIX}dependencies")
        yield error("annotation-dependencies", path, f"entry {index}: {message}", hint)
    if problems:
        return
    for field, needed in _ALONE.items():
        if field in entry:
            query = compiled(entry[field])
            if query is not None:
                yield needed(query)
            return
    name = compiled(entry["name"])
    namespace = compiled(entry["namespace"]) if "namespace" in entry else None
    if name is not None:
        yield ExtraDependency(entry["apiVersion"], entry["kind"], name, namespace)


def _problems(entry: JSON) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with one entry: message and hint."""
    if not isinstance(entry, dict):
        yield f"must be an object, not {type_name(entry)}", ""
        return
    alone = next((field for field in _ALONE if field in entry), None)
    known = _FIELDS if alone is None else (alone,)
    for field in entry:
        if alone is not None and field in (*_FIELDS, *_ALONE) and field != alone:
            yield f"{field} does not go with {alone}", "write two entries"
        elif field not in known:
            yield f"there is no field {field}", did_you_mean(field, (*_FIELDS, *_ALONE))
    for field in known:
        if field not in entry and field != "namespace":
            yield f"the field {field} is missing", ""
        elif not isinstance(entry.get(field, ""), str):
            yield f"{field} must be a string, not {type_name(entry[field])}", ""
    api_version, kind = entry.get("apiVersion"), entry.get("kind")
    if isinstance(api_version, str) and isinstance(kind, str):
        yield from _kind_problems(api_version, kind)


def _kind_problems(api_version: str, kind: str) -> Iterator[tuple[str, str]]:
    try:
        GVK.parse(api_version, kind)
    except InterpretationError as err:
        yield str(err), ""
