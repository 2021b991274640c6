"""The type of an object, as a Karta names it."""

from karta_interpreter.karta.notation import Schema


class GroupVersionKind(Schema):
    """The type of a Kubernetes object; the group of core kinds is empty."""

    group: str
    """API group; empty for core kinds."""
    version: str
    """API version."""
    kind: str
    """Kind."""
