"""A Karta for programs: loaded from any source, checked, and found by kind."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn, Self

from karta_interpreter.base.errors import InterpretationError, WorkloadError
from karta_interpreter.base.findings import DefinitionError, Finding, closest, did_you_mean
from karta_interpreter.base.k8s import GVK, JSON, Object, get
from karta_interpreter.base.karmada import OF_SCRIPTS, SLOTS, Operation
from karta_interpreter.definitions.karta import Definition, Known, catalogue_kinds, in_version, kinds_of
from karta_interpreter.engine.workload.document import (
    Named,
    check_kind,
    checked_object,
    checked_objects,
    reading,
)

if TYPE_CHECKING:
    from karta_interpreter.engine.explain import Explanation


@dataclass(frozen=True)
class Karta:
    """A definition that is ready to use. It says how the workloads of one kind are read and changed.

    >>> Karta.for_object({"apiVersion": "batch/v1", "kind": "Job"}).name
    'batch-job-v1'
    """

    definition: Definition

    def __post_init__(self) -> None:
        if isinstance(self.definition, dict | str | Path):
            raise TypeError("Karta.load(source) reads a Karta from an object, a text or a path")

    @classmethod
    def load(cls, source: Path | str | Object) -> Self:
        """Return the one Karta in a file, in YAML or JSON text, or in an object.

        Reads Karta, the older ResourceInterface, and a bare ``{spec: ...}``. A string is text if it has a line break,
        starts with ``{`` or begins with a key such as ``spec:``. Any other string is the path of a file. Raises
        DefinitionError with all errors and their places in its ``findings``.
        """
        # Not at the top: it loads pydantic and YAML, which a program needs only when it reads its first Karta.
        from karta_interpreter.engine.workload.karta_reader import content_of, load  # noqa: PLC0415 - see above

        loaded = load(*content_of(source))
        if len(loaded) == 1:
            return cls(loaded[0].usable())
        findings = tuple(finding for document in loaded for finding in document.findings)
        raise DefinitionError(
            f"a source has to hold one Karta; this one holds {len(loaded) or 'none'}"
            + ": give one of them" * bool(loaded),
            findings,
        )

    @classmethod
    def check(cls, source: Path | str | Object) -> tuple[Finding, ...]:
        """Return the findings about all Kartas of a source (as in `load`), also contradictions between their parts.

        Never raises.

        >>> [finding.rule for finding in Karta.check({"apiVersion": "v1", "kind": "Pod"})]
        ['not-a-karta']
        """
        from karta_interpreter.engine.workload.karta_reader import check  # noqa: PLC0415 - as in `load`

        return tuple(check(source))

    @classmethod
    def catalogue(cls) -> Mapping[GVK, "Karta"]:
        """Return the Kartas of this package by kind. Each is read on first use.

        >>> GVK("batch", "v1", "Job") in Karta.catalogue()
        True
        """
        return _CATALOGUE

    @classmethod
    def for_object(cls, obj: Object) -> "Karta":
        """Return the catalogue's Karta for the kind of an object, in exactly its version.

        Raises WorkloadError for a kind that the catalogue does not define. Your own definitions are not in the
        catalogue: `load` reads them.

        >>> Karta.for_object({"apiVersion": "v1", "kind": "ConfigMap"})  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        karta_interpreter.base.errors.WorkloadError: the catalogue has no Karta for ... `Karta.load` reads your own
        """
        with reading():
            gvk = GVK.of(checked_object(obj))
        try:
            return _CATALOGUE[gvk]
        except KeyError as err:
            raise WorkloadError(f"{err.args[0]} `Karta.load` reads your own") from None

    def explain(
        self,
        operation: str,
        obj: Object,
        *,
        observed: Object | None = None,
        replicas: int | None = None,
        statuses: Sequence[Object] = (),
        components: Sequence[Object] = (),
        references: Sequence[Object] = (),
    ) -> "Explanation":
        """Answer one of Karmada's operations, and explain the answer by the fields that it reads.

        Retain needs the ``observed`` object, ReviseReplica the ``replicas``, ReviseComponents the ``components``, each
        a ``{"name": …, "replicas": …}``, and AggregateStatus the ``statuses``, one AggregatedStatusItem per cluster.
        ``references`` are the objects that the definition may look up. Raises WorkloadError for an argument of a wrong
        type or an object of another kind. If the answer is an error, the explanation contains it.

        >>> job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "sum"}, "spec": {"parallelism": 3}}
        >>> Karta.for_object(job).explain("InterpretStatus", job).results
        {'status': {}}
        """
        # Not at the top: a program that only reads workloads loads no operations.
        from karta_interpreter.engine.explain import explain  # noqa: PLC0415 - see above
        from karta_interpreter.engine.operations import Call, StatusItem, TargetComponent  # noqa: PLC0415 - as above

        if operation not in list(Operation):
            raise WorkloadError(
                f'the operation comes first: explain("{obj}", obj)'
                if str(obj) in list(Operation)
                else f"there is no operation {operation!r:.40}; "
                + (
                    f"write {OF_SCRIPTS[operation]}, whose script has this name"
                    if str(operation) in OF_SCRIPTS
                    else did_you_mean(str(operation)[:40], Operation)
                )
            )
        if replicas is not None and (type(replicas) is not int or replicas < 0):
            raise WorkloadError(f"replicas are a whole number from 0, not {replicas!r}")
        statuses = tuple(checked_objects(statuses, "statuses"))
        check_kind(obj, self.gvk)
        read = SLOTS[operation].more.replace("items", "statuses")
        for argument, value in {
            "observed": observed,
            "replicas": replicas,
            "statuses": statuses or None,
            "components": components or None,
        }.items():
            if value is not None and argument != read:
                raise WorkloadError(f"{operation} does not read {argument}: leave the argument out")
        if observed is not None:
            check_kind(observed, self.gvk)
            for field in ("name", "namespace"):
                if get(observed, ("metadata", field)) != get(obj, ("metadata", field)):
                    raise WorkloadError(f"observed has another {field} than the object: it is the same one in a member")
        reader = known(references)
        with reading():
            clusters = set[str]()
            items = tuple(
                StatusItem.written(status, f"statuses[{index}]", clusters) for index, status in enumerate(statuses)
            )
            targets = TargetComponent.several(components, "components") if components else None
        call = Call(Operation(operation), obj, observed, replicas, items, targets)
        return explain(self.definition, call, reader=reader)

    def answers(self, obj: Object, *, references: Iterable[Object] = ()) -> dict[str, Mapping[str, JSON]]:
        """Answer Karmada's operations that need only the object, and return their results by operation.

        Operations that the definition leaves out are left out here, too. If an operation fails, its answer is
        ``{"error": reason}``. Raises WorkloadError if the object is not an object of JSON values, or has another kind.

        >>> job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "sum"}, "spec": {"parallelism": 3}}
        >>> Karta.for_object(job).answers(job)["InterpretHealth"]
        {'healthy': False}
        """
        from karta_interpreter.engine.operations import Call, interpret  # noqa: PLC0415 - as in `explain`

        check_kind(obj, self.gvk)
        reader = known(references)
        answers: dict[str, Mapping[str, JSON]] = _Answers()
        for operation in filter(self.definition.answers, OBJECT_OPERATIONS):
            try:
                answers[operation] = Named(interpret(self.definition, Call(Operation(operation), obj), reader=reader))
            except InterpretationError as error:
                answers[operation] = Named(error=str(error))
        return answers

    def __deepcopy__(self, memo: object) -> Self:
        """Return the Karta itself, which is immutable."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle only the manifest, and the values of references. Expressions are compiled again on unpickling."""
        return _loaded_again, (
            self.definition.manifest,
            self.gvk.version,
            self.definition.source,
            self.findings,
            self.definition.reference_values,
        )

    @property
    def name(self) -> str:
        """The name of the definition."""
        return self.definition.name

    @property
    def gvk(self) -> GVK:
        """The kind of the workloads that this Karta describes."""
        return self.definition.gvk

    @property
    def kinds(self) -> tuple[GVK, ...]:
        """All kinds that this Karta describes: a kind in its own version, and in others."""
        return kinds_of(self.definition.manifest)

    def in_version(self, version: str) -> "Karta":
        """Return the Karta for workloads of one of the versions in `kinds`. Raises WorkloadError for another one.

        >>> Karta.for_object({"apiVersion": "batch/v1", "kind": "Job"}).in_version("v1").gvk
        GVK(group='batch', version='v1', kind='Job')
        """
        if version == self.gvk.version:
            return self
        if self.gvk._replace(version=version) not in self.kinds:
            raise WorkloadError(f"{self!r} describes {', '.join(map(str, self.kinds))}, not {version!r}")
        return _loaded_again(self.definition.manifest, version, *self.__reduce__()[1][2:])

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The warnings about this Karta. A definition with errors cannot be used."""
        return self.definition.findings

    def __repr__(self) -> str:
        return f"Karta({self.name}: {self.gvk})"


def _loaded_again(
    manifest: Object, version: str, source: str, findings: tuple[Finding, ...], values: Mapping[str, Any] | None
) -> Karta:
    of_version = Karta.load(in_version(manifest, version)).definition
    definition = replace(of_version, manifest=manifest, source=source, findings=findings)
    return Karta(definition if values is None else definition.bound(values))


class _Answers(Named[Mapping[str, JSON]]):
    """Answers by operation."""

    def __missing__(self, name: str) -> NoReturn:
        if name in tuple(Operation) and name not in OBJECT_OPERATIONS:
            raise KeyError(f'{name} needs more than the object: write karta.explain("{name}", obj, …).results')
        super().__missing__(name)


OBJECT_OPERATIONS: Final = tuple(operation.value for operation in Operation if len(SLOTS[operation].parameters) == 1)
"""The operations that need only the object."""


def known(references: Iterable[Object]) -> Known:
    """Return the objects that a definition may look up. Raises WorkloadError for anything else."""
    with reading():
        return Known.of(checked_objects(references, "references"))


class _Catalogue(Mapping[GVK, Karta]):
    """The Kartas of the catalogue's files by kind. Each file is read once."""

    def __getitem__(self, gvk: GVK) -> Karta:
        if gvk not in self:
            # By kind: in whole names, the API version of another kind counts as likeness.
            alike = _kinds_like(gvk[-1]) or _kinds_like("/".join(map(str, gvk)))
            hint = f"; did you mean {alike}?" if alike else ", and for no kind with a similar name."
            raise KeyError(f"the catalogue has no Karta for {gvk!r}{hint}")
        return _of_catalogue(gvk)

    def __iter__(self) -> Iterator[GVK]:
        return iter(catalogue_kinds())

    def __len__(self) -> int:
        return len(catalogue_kinds())

    def __contains__(self, gvk: object) -> bool:
        if not isinstance(gvk, tuple):  # before `get` takes it for a kind that is not there
            raise TypeError(f"a key is a GVK of karta_interpreter, not {type(gvk).__name__}")
        return gvk in catalogue_kinds()  # without reading the file, as Mapping's own would

    def __repr__(self) -> str:
        return f"<the catalogue, {len(self)} kinds>"


def _kinds_like(name: str) -> str:
    """Return the keys of the catalogue for the kind that a text may name, "" for none.

    >>> _kinds_like("jobset.x-k8s.io/v1alpha2/Jobset")
    "GVK(group='jobset.x-k8s.io', version='v1alpha2', kind='JobSet')"
    """
    words = re.split("[/=.,]", name[:80])  # not at spaces, which texts of objects have
    kinds = {closest(word, sorted({gvk.kind for gvk in catalogue_kinds()})) for word in words}
    return " or ".join(repr(gvk) for gvk in catalogue_kinds() if gvk.kind in kinds)


@cache  # only called with kinds of the catalogue, so it is bounded
def _of_catalogue(gvk: GVK) -> Karta:
    return Karta.load(catalogue_kinds()[gvk]).in_version(gvk[1])


_CATALOGUE: Mapping[GVK, Karta] = _Catalogue()
