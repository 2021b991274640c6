"""The object that a binding is about."""

from typing import NamedTuple

from karta_interpreter.base.command_line import shown
from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import GVK, Object, get, name as name_of, namespace as namespace_of

MOST_NAMED = 100
"""Refused bindings and Works that are named. Tenants make bindings."""


class Resource(NamedTuple):
    """An object that a binding names. Without a namespace it is cluster-scoped."""

    gvk: GVK
    namespace: str
    name: str

    def __str__(self) -> str:
        """The kind, the namespace and the name, each quoted if it cannot be one."""
        full_name = shown("name", self.name)
        return (
            f"{shown('kind', self.gvk.kind)} {self.namespace and shown('namespace', self.namespace) + '/'}{full_name}"
        )


def resource_of(binding: Object) -> Resource:
    """Return the object that a binding is about. Raises InterpretationError if it names none, or one elsewhere.

    Karmada makes a binding in the namespace of its object (``BuildResourceBinding`` in ``pkg/detector/detector.go``),
    and one without a namespace for a cluster-scoped object. Whoever may write bindings can name any object in one.
    """
    named = get(binding, ("spec", "resource"))
    fields: Object = named if isinstance(named, dict) else {}
    try:
        gvk = GVK.of(fields)
    except InterpretationError as error:
        raise InterpretationError("it names no kind: nobody judges it") from error
    resource = Resource(gvk, str(fields.get("namespace") or ""), str(fields.get("name") or ""))
    if resource.namespace != namespace_of(binding):
        raise InterpretationError(f"it names {resource}, which is not of its namespace: nobody judges it")
    return resource


def binding_name(kind: str, binding: Object) -> str:
    """Return the kind and the name of a binding for a message."""
    namespace = namespace_of(binding)
    return f"{kind} {namespace and shown('namespace', namespace) + '/'}{shown('name', name_of(binding))}"
