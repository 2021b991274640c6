"""A Karta for programs: loaded from wherever it is, checked, and found by kind."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from karta_interpreter.errors import InterpretationError, WorkloadError
from karta_interpreter.findings import Finding
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import Object
from karta_interpreter.karta.definition import Definition
from karta_interpreter.suggestion import did_you_mean
from karta_interpreter.workload.catalogue import Catalogue
from karta_interpreter.workload.source import only_definition, read_source


@dataclass(frozen=True, slots=True)
class Karta:
    """A definition that can be used: how the workloads of one kind are read and changed.

    >>> Karta.for_object({"apiVersion": "batch/v1", "kind": "Job"}).name
    'batch-job-v1'
    """

    definition: Definition

    @classmethod
    def load(cls, source: Path | str | Object) -> Self:
        """The one Karta in a file, in YAML or JSON text, or in an object.

        Reads Karta, the older ResourceInterface, and a bare ``{spec: ...}``. A string is text if it has a line
        break or starts with ``{``, else the path of a file. Raises DefinitionError, whose ``findings`` name
        everything that is wrong, each with its place.
        """
        return cls(only_definition(read_source(source)))

    @classmethod
    def check(cls, source: Path | str | Object) -> tuple[Finding, ...]:
        """Return the findings about all the Kartas of a source as in `load`; nothing is raised.

        >>> [finding.rule for finding in Karta.check({"apiVersion": "v1", "kind": "Pod"})]
        ['not-a-karta']
        """
        return tuple(finding for loaded in read_source(source) for finding in loaded.findings)

    @classmethod
    def catalogue(cls) -> Mapping[GVK, "Karta"]:
        """The Kartas that come with this package by kind, each read when it is asked for.

        >>> GVK("batch", "v1", "Job") in Karta.catalogue()
        True
        """
        return _CATALOGUE

    @classmethod
    def for_object(cls, obj: Object) -> "Karta":
        """The catalogue's Karta for the kind of an object; raises WorkloadError where there is none."""
        try:
            gvk = GVK.of(obj)
        except InterpretationError as err:
            raise WorkloadError(str(err)) from err
        if gvk not in _CATALOGUE:
            hint = did_you_mean(str(gvk), map(str, _CATALOGUE))
            raise WorkloadError(f"the catalogue has no Karta for {gvk}; {hint}")
        return _CATALOGUE[gvk]

    @property
    def name(self) -> str:
        """The name of the definition."""
        return self.definition.name

    @property
    def gvk(self) -> GVK:
        """The kind of the workloads it is for."""
        return self.definition.gvk

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What looks wrong in it without keeping it from being used: warnings."""
        return self.definition.findings

    def __repr__(self) -> str:
        return f"Karta({self.name}: {self.gvk})"


_CATALOGUE: Mapping[GVK, Karta] = Catalogue(Karta.load)
