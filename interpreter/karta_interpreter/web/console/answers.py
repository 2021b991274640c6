"""All answers of a definition about an object, with explanations and their places in the texts of the page."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Final, Self, TypeVar

import msgspec
from msgspec import Struct

from karta_interpreter.base.errors import InterpretationError, ManifestError, WorkloadError
from karta_interpreter.base.findings import Finding, listed, with_article
from karta_interpreter.base.k8s import GVK, JSON, Counting, NewObject, Object, Path, edit, patch
from karta_interpreter.base.k8s.manifest import PlacedValue
from karta_interpreter.base.k8s.yaml_writer import to_authored_yaml
from karta_interpreter.base.positions import SourcePosition
from karta_interpreter.definitions.karta import Definition, Known, is_kind_of_definitions
from karta_interpreter.definitions.karta.loading import Loaded, load_placed
from karta_interpreter.definitions.sources import ServedDefinition, SourceDefinitions, combine
from karta_interpreter.engine.comparison.cases import case_about
from karta_interpreter.engine.comparison.interpreter import Interpreter
from karta_interpreter.engine.explain import OBSERVED, Explanation, Fact, explain, path_of
from karta_interpreter.engine.operations import (
    CHANGED,
    DEFAULT_OPTIONS,
    LIVE,
    SLOTS,
    Call,
    Operation,
    Options,
    StatusItem,
    interpret,
)
from karta_interpreter.engine.operations.status_items import read_items
from karta_interpreter.engine.suites import run
from karta_interpreter.engine.workload import Karta, Workload, WorkloadTree
from karta_interpreter.web.console.texts import (
    EDITORS,
    contradicted,
    field_paths,
    read_cases,
    read_crds,
    read_object,
    read_objects,
)

ORDER: Final = (
    Operation.INTERPRET_REPLICA,
    Operation.INTERPRET_COMPONENT,
    Operation.INTERPRET_HEALTH,
    Operation.INTERPRET_DEPENDENCY,
    Operation.REVISE_REPLICA,
    Operation.RETAIN,
    Operation.AGGREGATE_STATUS,
    Operation.INTERPRET_STATUS,
)
_NOT_RUN: Final = "not run: the Karta is for another kind, or the object is in a file, which only `test` reads"
_ORIGIN: Final = "this text"
_KARTAS: Final = 4  # texts kept compiled in a child process: the one that is edited, and some to go back to
_Read = TypeVar("_Read")


class PageOptions(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """`Options` in the spelling of the page."""

    resource_quota_estimate: bool = DEFAULT_OPTIONS.resource_quota_estimate
    pod_requests: Counting = DEFAULT_OPTIONS.pod_requests
    device_classes: tuple[str, ...] = DEFAULT_OPTIONS.device_classes
    count_pods: tuple[str, ...] = DEFAULT_OPTIONS.count_pods


class PageQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The texts of the page, and what its user has chosen."""

    karta: str = ""
    object: str = ""
    observed: str = ""
    items: str = ""
    references: str = ""
    crd: str = ""
    suite: str = ""
    replicas: int | None = None
    page_options: PageOptions = msgspec.field(default=PageOptions(), name="options")
    case: Operation | None = None
    """The operation to return as a case of a suite."""

    @classmethod
    def of(cls, value: JSON) -> Self:
        """Read the body of a request. Raises ValueError for any other JSON value."""
        return msgspec.convert(value, cls)

    @property
    def options(self) -> Options:
        """The options, as operations take them."""
        return Options.of(msgspec.structs.asdict(self.page_options))


class _Inputs(Struct, frozen=True):
    """The values of the texts of the page. ``problems`` has the reason for each text without a value."""

    object: PlacedValue | None
    observed: PlacedValue | None
    items: tuple[tuple[PlacedValue, StatusItem], ...]
    references: tuple[Object, ...]
    crds: tuple[Object, ...]
    cases: Sequence[Object]
    problems: Object

    def call(self, operation: Operation, obj: PlacedValue, replicas: int | None) -> Call:
        """Return the call of an operation that misses nothing."""
        # Without the member's object the template stands for it, so that status and health have an answer while typing.
        observed, items = self.observed or obj, tuple(item for _, item in self.items)
        return Call.of(operation, obj.value, observed.value, replicas or 0, items)


def answer(question: PageQuestion) -> NewObject:
    """Return the document that the page shows: findings, problems of texts, the answers and the tree.

    Never raises for user input. ``answers`` is empty if no definition fits the object.
    """
    kartas = kartas_of(question.karta)
    inputs = _inputs_of(question)
    findings, usable, gvks = list[Finding](), list[ServedDefinition](), list[GVK]()
    for loaded, _ in kartas:
        findings += loaded.findings
        if loaded.definition:
            usable.append(ServedDefinition(loaded.definition, _ORIGIN, loaded.line))
        if loaded.gvk:
            gvks.append(loaded.gvk)
    findings += combine([SourceDefinitions(tuple(usable))]).findings
    findings += contradicted(question.karta, question.crd if inputs.crds else "")
    page: NewObject = {
        "problems": inputs.problems,
        "answers": [],
        "findings": [finding.to_json() for finding in findings],
        "cases": inputs.cases,
        "paths": field_paths(question.crd, tuple(gvks)) if inputs.crds else None,
    }
    if inputs.object is None:
        return page
    gvk = GVK.of(inputs.object.value)
    page |= gvk.type_meta
    for loaded, marker in kartas:
        # The first of several for a kind answers, as among the files of -f.
        if loaded.definition and marker and loaded.gvk == gvk:
            looked_up = [*question.options.looked_up, *(reference.gvk for reference in loaded.definition.references)]
            if inputs.references and not any(GVK.of(reference) in looked_up for reference in inputs.references):
                message = f"the definition looks up {listed(looked_up) or 'no objects'}: these change nothing"
                page["problems"] = {**inputs.problems, "references": _problem(ManifestError(message))}
            return page | _Answers(loaded.definition, marker, inputs.object, inputs, question).document(question.case)
    defined = ", ".join(str(entry.definition.gvk) for entry in usable)
    return page | {"unanswered": _why_unanswered(gvk, defined, has_kartas=bool(kartas))}


def _why_unanswered(gvk: GVK, defined: str, *, has_kartas: bool) -> str:
    if is_kind_of_definitions(gvk.group, gvk.kind):
        return "the object is a definition: move it to the text of the Karta, and give an object of its kind"
    if gvk.kind in EDITORS:
        return f"the object is {with_article(gvk.kind)}: {EDITORS[gvk.kind]}"
    if gvk.group.endswith("karmada.io"):
        return f"{gvk} is an object of Karmada itself: give the workload"
    if defined:
        return f"the Karta is for {defined}, the object is {gvk}; change one of them, or choose a kind"
    return "fix the errors to see answers" if has_kartas else f"write a Karta for {gvk}, or choose a kind"


@lru_cache(_KARTAS)
def _judged(karta: str, suite: str, options: Options) -> Sequence[Object]:
    """Run the cases of a suite by the Kartas of another text. Return the place and the failures of each."""
    # The first definition of a kind answers.
    definitions: dict[tuple[JSON, JSON], Definition | None] = {}
    for loaded, _ in kartas_of(karta):
        if loaded.gvk:
            definitions.setdefault((loaded.gvk.api_version, loaded.gvk.kind), loaded.definition)
    cases, judged = [*read_cases(suite)], list[Object]()
    if not any(definitions.values()):
        return judged
    for (line, column), case in cases:
        definition = definitions.get((case.call.object.get("apiVersion"), case.call.object.get("kind")))
        failures = run(definition, case, options).failures if definition else (_NOT_RUN,)
        judged.append({"line": line, "column": column, "name": case.name, "failures": failures})
    return judged


@lru_cache(_KARTAS)
def kartas_of(text: str) -> tuple[tuple[Loaded, SourcePosition | None], ...]:
    """Load the Kartas of a text for each version, which stays the same while its user edits the object."""
    return tuple((version, position) for loaded, position in load_placed(text, "") for version in loaded.versions)


def _inputs_of(question: PageQuestion) -> _Inputs:
    kinds = [loaded.gvk for loaded, _ in kartas_of(question.karta) if loaded.gvk]
    problems: NewObject = {}

    def read(name: str, reader: Callable[[str], _Read], nothing: _Read) -> _Read:
        try:
            return reader(getattr(question, name))
        except ManifestError as error:
            problems[name] = _problem(error)
            return nothing

    obj = read("object", lambda text: read_object(text, kinds), None)
    observed = read("observed", lambda text: read_object(text, kinds), None)
    if obj and observed and (gvk := GVK.of(obj.value)) in kinds:
        message, place = _difference(observed.value, obj.value)
        if message:
            line, column = observed.position(place)
            problems["observed"] = _problem(ManifestError(f"the member's object {message}", line=line, column=column))
        if GVK.of(observed.value) != gvk:
            observed = None
    return _Inputs(
        obj,
        observed,
        tuple(read("items", lambda text: [*read_items(text, "", set())], [])),
        tuple(read("references", read_objects, [])),
        read("crd", read_crds, ()),
        read("suite", lambda text: _judged(question.karta, text, question.options), ()),
        problems,
    )


def _problem(error: ManifestError) -> Object:
    """Return message and place for the page."""
    return {"message": str(error), "line": max(error.line, 1), "column": max(error.column, 1)}


def _difference(observed: Object, obj: Object) -> tuple[str, Path]:
    """Return how the member's object is another one than the object, and the place that says so."""
    member, gvk = GVK.of(observed), GVK.of(obj)
    if member != gvk:
        return f"is {member}, and the object is {gvk}", ("kind",)
    name, namespace = ("metadata", "name"), ("metadata", "namespace")
    its, own = edit.get(observed, name), edit.get(obj, name)
    if its != own:
        return f"is called {its or '(no name)'}, and the object {own or '(no name)'}", name
    its, own = edit.get(observed, namespace), edit.get(obj, namespace)
    if its and own and its != own:
        return f"is in namespace {its}, and the object in {own}", namespace
    return "", ()


class _Answers:
    """The answers of one definition about one object."""

    def __init__(
        self, definition: Definition, place: SourcePosition, obj: PlacedValue, inputs: _Inputs, question: PageQuestion
    ) -> None:
        self._definition, self._place, self._object, self._inputs = definition, place, obj, inputs
        self._options, self._known = question.options, Known.of(inputs.references)
        self._replicas = question.replicas
        if question.replicas is None:
            # One more than the replicas of the object. Without an answer about them the page asks for a number.
            call = Call(Operation.INTERPRET_REPLICA, obj.value)
            with suppress(InterpretationError):
                self._replicas = int(interpret(definition, call, self._options, reader=self._known)["replica"]) + 1

    def document(self, case: Operation | None) -> NewObject:
        """Return the answers to all operations, the tree, and the answer to one operation as a case of a suite."""
        is_answered = case in ORDER and not self._lacks(case)
        return {
            "case": self._case(case) if case and is_answered else "",
            "definition": self._definition.name,
            "references": [f"{reference.gvk} as ${reference.name}" for reference in self._definition.references],
            "replicas": self._replicas,
            "answers": [self._explained(operation) for operation in ORDER],
            "tree": _tree(self._definition, self._object.value, self._inputs.references),
        }

    def _explained(self, operation: Operation) -> Object:
        if why := self._lacks(operation):
            return {"operation": str(operation), "missing": why, "facts": [], "layers": []}
        printed: list[str] = []
        call = self._inputs.call(operation, self._object, self._replicas)
        explanation = explain(self._definition, call, self._options, reader=self._known, on_print=printed.append)
        changes = {} if explanation.results is None else self._changes(operation, call.object, explanation.results)
        facts = [self._fact(fact, operation) for fact in explanation.facts]
        return {**_without_change(explanation, operation), **changes, "facts": facts, "printed": printed}

    def _lacks(self, operation: Operation) -> str:
        """Return the input that an operation needs and that is missing, or why it is never answered."""
        if not self._definition.answers(operation):
            return "the definition does not answer it"
        needed: tuple[str, object] = {
            Operation.RETAIN: ("observed", self._inputs.observed),
            Operation.AGGREGATE_STATUS: ("items", self._inputs.items or None),
            Operation.REVISE_REPLICA: ("replicas", self._replicas),
        }.get(operation, ("", ""))
        return needed[0] if needed[1] is None else ""

    def _case(self, operation: Operation) -> str:
        call = self._inputs.call(operation, self._object, self._replicas)
        interpreter = Interpreter(ServedDefinition(self._definition, _ORIGIN))
        return to_authored_yaml(case_about(interpreter, call, self._inputs.references, self._options))

    @staticmethod
    def _changes(operation: Operation, before: JSON, results: Mapping[str, JSON]) -> Object:
        (name, *_) = SLOTS[operation].results
        if name not in CHANGED:
            return {}
        changes = list[Object]()
        for change in patch.diff(before, results[name]):
            path = patch.path_of_pointer(change["path"], before)
            # What is added was not there: a list may have another element at its place.
            old = {} if change["op"] == "add" else {"old": edit.get(before, path)}
            changes.append({**change, **old})
        return {"patch": changes}

    def _fact(self, fact: Fact, operation: Operation) -> Object:
        written = fact.to_json()
        if fact.field:
            written["at"] = [*self._place.document.position((*self._place.at, *path_of(fact.field)))]
        places: Iterator[tuple[str, tuple[int, int] | None]] = (
            self._located(read.source, read.cluster, read.path, operation) for read in fact.places
        )
        for shown, (text, position) in zip(written.get("places", ()), places, strict=True):
            shown["text"] = text
            if position:
                shown["at"] = position
        if fact.writes:
            written["writesAt"] = [
                self._object.position(patch.path_of_pointer(pointer, self._object.value)) for pointer in fact.writes
            ]
        return written

    def _located(
        self, source: str, cluster: str, path: Path, operation: Operation
    ) -> tuple[str, tuple[int, int] | None]:
        """Return the text of the page that contains a place, and the position in it."""
        if cluster:
            item = next((marker for marker, item in self._inputs.items if item.cluster == cluster), None)
            return "items", item.position(("status", *path)) if item else None
        observed = self._inputs.observed
        if observed and (source == OBSERVED or operation in LIVE):
            return "observed", observed.position(path)
        return "object", self._object.position(path)


def _without_change(explanation: Explanation, operation: Operation) -> Object:
    """Return the explanation without the changed object. The page shows the object's patch instead."""
    document: NewObject = {
        "operation": str(operation),
        "layers": [layer.to_json() for layer in explanation.layers],
    }
    results = explanation.results
    if results is None:
        return {**document, "error": explanation.error}
    if operation is Operation.AGGREGATE_STATUS:
        return {**document, "results": {"aggregatedStatus": {"status": results["aggregatedStatus"].get("status")}}}
    return document if SLOTS[operation].results[0] in CHANGED else {**document, "results": dict(results)}


def _tree(definition: Definition, obj: Object, references: Sequence[Object]) -> Object:
    """Return the tree of a workload from its root down, or the error that came instead."""
    try:
        tree = WorkloadTree.build(Workload(Karta(definition), obj).with_references(references))
    except WorkloadError as error:
        return {"error": str(error)}
    return {
        "status": list(map(str, tree.status.matched)),
        "replicas": tree.replicas,
        "root": tree.root.to_json(extracted=False),
        "groups": [group.to_json() for group in tree.groups],
    }
