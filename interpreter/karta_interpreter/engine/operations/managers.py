"""Who owns a field of a member's object: ``metadata.managedFields``.

On an API server a value that a mutating webhook wrote belongs to nobody, and a default of the schema to the manager of
the request. A manager of a field that it has confirmed with the same value by server-side apply is one more owner.
"""

from collections.abc import Iterable
from typing import Final

from karta_interpreter.base.k8s import JSON, NOTHING, Object, Path, get, loaded, objects_in

MANAGED_FIELDS: Final = ("metadata", "managedFields")
MOST_ENTRIES: Final = 64
"""The most writers of an object that are distinguished. An API server keeps ten, plus the writers that apply."""
# Annotations whose writer is Karmada. A binary with another name takes over the second one at the next edit.
_KARMADAS: Final = frozenset({"f:work.karmada.io/name", "f:resourcetemplate.karmada.io/generation"})


def manager_of(entry: Object) -> str:
    """Return the manager of an entry of ``managedFields``."""
    return str(entry.get("manager") or "")


def karmadas_managers(entries: Iterable[Object]) -> frozenset[str]:
    """Return the names of the managers that are Karmada, of all entries of ``managedFields``."""
    names = set()
    for entry in entries:
        owned = get(entry, ("fieldsV1", "f:metadata", "f:annotations"))
        if isinstance(owned, dict) and not _KARMADAS.isdisjoint(owned):
            names.add(manager_of(entry))
    return frozenset(names)


def is_only_karmadas(obj: Object, path: Path) -> bool:
    """Return whether Karmada alone owns a field. Nobody owns a field in a list, because its index tells nothing.

    >>> owned = {"f:spec": {"f:suspend": {}}}
    >>> karmada = {"manager": "karmada", "fieldsV1": {"f:metadata": {"f:annotations": {"f:work.karmada.io/name": {}}}}}
    >>> entries = [karmada, {"manager": "karmada", "fieldsV1": owned}]
    >>> is_only_karmadas({"metadata": {"managedFields": entries}}, ("spec", "suspend"))
    True
    >>> entries = [*entries, {"manager": "flux", "fieldsV1": owned}]
    >>> is_only_karmadas({"metadata": {"managedFields": entries}}, ("spec", "suspend"))
    False
    """
    entries = objects_in(loaded(get(obj, MANAGED_FIELDS)))
    if len(entries) > MOST_ENTRIES:
        return False
    keys = tuple([f"f:{step}" for step in path])
    owners = {manager_of(entry) for entry in entries if _may_own(entry.get("fieldsV1"), keys)}
    is_owned = any(get(entry, ("fieldsV1", *keys), NOTHING) is not NOTHING for entry in entries)
    return is_owned and owners <= karmadas_managers(entries)


def _may_own(fields: JSON, keys: Path) -> bool:
    """Return whether the fields of a manager have a field, or something around it that may be owned as a whole."""
    for key in keys:
        fields = get(fields, (key,), NOTHING)
        if fields is NOTHING or fields == {}:
            break
    return fields is not NOTHING
