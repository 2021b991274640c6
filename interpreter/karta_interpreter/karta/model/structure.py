"""A Karta as a whole."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from karta_interpreter.k8s.values import Path
from karta_interpreter.karta.instructions import OptimizationInstructions
from karta_interpreter.karta.model.component import ComponentDefinition, GroupVersionKind
from karta_interpreter.karta.notation import Expression, Many, OptionalExpression, Schema, keyed_by


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


class StructureDefinition(Schema):
    """The component tree of a workload, and what else has to be known of it."""

    root_component: ComponentDefinition
    """The workload itself."""
    child_components: Annotated[Many[ComponentDefinition], keyed_by("name")] = ()
    """The parts of the workload."""
    additional_child_kinds: Annotated[Many[GroupVersionKind], keyed_by("kind")] = ()
    """Other kinds of objects that the workload owns."""
    references: Annotated[Many[ResourceReference], keyed_by("name")] = ()
    """Other objects that expressions read."""

    @property
    def reference_names(self) -> frozenset[str]:
        """The names by which expressions read references."""
        return frozenset(reference.name for reference in self.references)

    @property
    def components(self) -> tuple[tuple[Path, ComponentDefinition], ...]:
        """Every component with its path in the Karta, the root first."""
        at = ("spec", "structureDefinition")
        children = enumerate(self.child_components)
        return (
            ((*at, "rootComponent"), self.root_component),
            *(((*at, "childComponents", index), child) for index, child in children),
        )


class Spec(Schema):
    """What a definition says."""

    structure_definition: StructureDefinition
    """The components of the workload, as a tree."""
    optimization_instructions: OptimizationInstructions | None = None
    """Advice to schedulers."""


class Karta(BaseModel):
    """A definition as it was written, with its name and annotations."""

    model_config = ConfigDict(frozen=True)

    name: str
    annotations: dict[str, str]
    spec: Spec
