"""What identifies a definition before it is read: its type, API group, name and kind, and the paths of its parts."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from karta_interpreter.base.findings import escaped
from karta_interpreter.base.k8s import GVK, JSON, Object, Path, edit, request_path

STRUCTURE: Final[Path] = ("spec", "structureDefinition")
"""Where a Karta describes the workload. Other rooms name the parts below it."""

REFERENCES: Final[Path] = (*STRUCTURE, "references")
ROOT: Final[Path] = (*STRUCTURE, "rootComponent")
ROOT_KIND: Final[Path] = (*ROOT, "kind")
ROOT_STATUS: Final[Path] = (*ROOT, "statusDefinition")

API_GROUP: Final = "run.ai"
VERSION: Final = "v1alpha1"
KARTA = (f"{API_GROUP}/{VERSION}", "Karta")
RESOURCE_INTERFACE = ("optimization.nvidia.com/v1alpha1", "ResourceInterface")
"""The older form of a Karta. Its spec has the same shape."""

_api_group: Final[ContextVar[str]] = ContextVar("karta_api_group", default=API_GROUP)


@contextmanager
def karta_api_group(group: str) -> Iterator[None]:
    """Read and write Kartas on a cluster in this API group inside the block. Files may have any group."""
    token = _api_group.set(group)
    try:
        yield
    finally:
        _api_group.reset(token)


def api_group() -> str:
    """Return the API group of the Kartas on a cluster."""
    return _api_group.get()


def kartas_path(name: str | None = None) -> str:
    """Return the path of the Kartas on an API server, or of one with a name. Raises ClusterError as `request_path`.

    >>> with karta_api_group("workloads.example.com"):
    ...     kartas_path()
    '/apis/workloads.example.com/v1alpha1/kartas'
    """
    return request_path(api_group(), VERSION, "kartas", name=name)


def karta_type() -> Object:
    """Return the apiVersion and kind of a Karta that is written here."""
    return {"apiVersion": f"{api_group()}/{VERSION}", "kind": KARTA[1]}


def is_kind_of_definitions(group: str, kind: JSON) -> bool:
    """Return whether objects of a kind are definitions: Kartas of any API group, or the older ResourceInterfaces."""
    older = (group, kind) == (RESOURCE_INTERFACE[0].partition("/")[0], RESOURCE_INTERFACE[1])
    return older or (kind == KARTA[1] and group != "")


def is_definition(value: Object) -> bool:
    """Return whether an object is a definition by its type.

    >>> is_definition({"apiVersion": "workloads.example.com/v1alpha1", "kind": "Karta"})
    True
    """
    group, _, version = str(value.get("apiVersion")).partition("/")
    return version == VERSION and is_kind_of_definitions(group, value.get("kind"))


def name_of(value: Object) -> str:
    """Return the name of a definition, escaped. The default is the name of its root component, in lower case."""
    name = edit.get(value, ("metadata", "name"))
    if isinstance(name, str) and name:
        return escaped(name)
    root = edit.get(value, ROOT)
    name = edit.get(root, ("name",)) or edit.get(root, ("kind", "kind"))
    return escaped(name.lower()) if isinstance(name, str) else ""


def gvk_of(value: Object) -> GVK | None:
    """Return the kind that a definition names, or None. The definition need not be valid."""
    kind = edit.get(value, ROOT_KIND)
    group, version, name = (edit.get(kind, (field,)) for field in ("group", "version", "kind"))
    if not all(isinstance(text, str) for text in (group, version, name)) or not version or not name or "/" in group:
        return None
    return GVK(group, version, name)
