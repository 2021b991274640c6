"""Other objects that the expressions of a Karta read.

Source: the design of references in the Karta project (`docs/design/references`).
"""

from pydantic import Field

from karta_interpreter.karta.model.kind import GroupVersionKind
from karta_interpreter.karta.notation import Expression, Many, OptionalExpression, Schema


class LabelValue(Schema):
    """The value of a label: text, or an expression that yields it."""

    value: str | None = None
    """The value itself."""
    expression: OptionalExpression = None
    """jq on the workload that yields the value."""


class LabelRequirement(Schema):
    """A requirement of a label selector."""

    key: str
    """Key of the label."""
    operator: str
    """In, NotIn, Exists or DoesNotExist."""
    values: Many[LabelValue] = ()
    """The values, for In and NotIn."""


class LookupReference(Schema):
    """One object, by its name."""

    name_expression: Expression
    """jq on the workload that yields the name of the object; without a result there is none."""


class ListReference(Schema):
    """The objects that have certain labels."""

    match_labels: dict[str, LabelValue] = Field(default_factory=dict)
    """Labels that the objects have."""
    match_expressions: Many[LabelRequirement] = ()
    """Requirements that their labels meet."""


class ResourceReference(Schema):
    """Other objects, which expressions read as a variable: one, or a list of them."""

    name: str
    """Name of the variable, without its dollar sign."""
    gvk: GroupVersionKind
    """Type of the objects."""
    namespace_expression: OptionalExpression = None
    """jq on the workload that yields the namespace of the objects; without it that of the workload."""
    lookup: LookupReference | None = None
    """Looks up one object; the variable is null when it does not exist."""
    list: ListReference | None = None
    """Lists objects."""
