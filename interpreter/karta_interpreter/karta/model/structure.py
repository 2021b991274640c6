"""A Karta as a whole."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict

from karta_interpreter.k8s.values import Path
from karta_interpreter.karta.instructions import OptimizationInstructions
from karta_interpreter.karta.model.component import ComponentDefinition
from karta_interpreter.karta.model.kind import GroupVersionKind
from karta_interpreter.karta.model.reference import ResourceReference
from karta_interpreter.karta.notation import Many, Schema, keyed_by


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
