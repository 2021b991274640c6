"""``diff --from bindings``: the answers that a Karmada holds, whoever gave them, beside those of definitions."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import click
from msgspec import Struct, field

from karta_interpreter.base.errors import InterpretationError, QuantityError
from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s import GVK, JSON, Object, Quantity, full_name, get, namespace, objects_in
from karta_interpreter.cli.calls import ask
from karta_interpreter.cli.changes import (
    Side,
    cause_of,
    difference_lines,
    differences_json,
    known_reason,
    print_changes,
    verdict_of,
)
from karta_interpreter.cli.definitions import Interpreter
from karta_interpreter.cli.program import Problem
from karta_interpreter.cli.render import one_line, table, watched, written
from karta_interpreter.clusters.bindings import KARMADA, NOBODY, Bindings, Bound
from karta_interpreter.definitions.sources import ORIGIN
from karta_interpreter.engine.operations import ELSEWHERE, Call, Operation, Options, StatusItem
from karta_interpreter.engine.registered.operations import find_served, operations_for, served_kinds
from karta_interpreter.engine.suites import ERROR, Answer, Difference, compare_answers

_COUNTED: Final = (Operation.INTERPRET_REPLICA, Operation.INTERPRET_COMPONENT)
_COMPARED: Final = (
    *_COUNTED,
    Operation.INTERPRET_HEALTH,
    Operation.INTERPRET_DEPENDENCY,
    Operation.AGGREGATE_STATUS,
)
# Karmada's record of an answer to InterpretDependency (``util.DependenciesAnnotationKey``).
_DEPENDENCIES: Final = ("metadata", "annotations", "resourcebinding.karmada.io/dependencies")
_HEALTHY: Final = {"Healthy": True, "Unhealthy": False}
_CUSTOMIZED: Final = "a customization answers before any webhook: this is the answer once it is deleted"
# The most bytes of differences that are kept to be shown.
_MOST_KEPT = 2**26


class _Question(NamedTuple):
    call: Call
    today: Answer
    cluster: str = ""


class _Row(NamedTuple):
    """A different answer, or without differences an object that could not be compared."""

    gvk: GVK
    name: str
    operation: str = ""
    cluster: str = ""
    answered_by: str = ""
    differences: tuple[Difference, ...] = ()
    reasons: Mapping[str, str] = {}

    def text(self, *, full: bool) -> str:
        title = f"{self.gvk.kind} {self.name}"
        if self.cluster:
            title += f" in {self.cluster}"
        if self.operation:
            title += f": {self.operation}, today by {self.answered_by}"
        lines = [one_line(title), *difference_lines(self.differences, full=full)]
        lines += [one_line(f"  {name}: {reason}") for name, reason in self.reasons.items()]
        return "".join(f"{line}\n" for line in lines) + "\n"

    def to_json(self) -> Object:
        about = {"operation": self.operation, "cluster": self.cluster, "today": self.answered_by, **self.reasons}
        return {
            **self.gvk.type_meta,
            "name": self.name,
            **{name: value for name, value in about.items() if value},
            "differences": differences_json(self.differences),
        }


class _Kind(Struct):
    """The numbers of a kind. A total is that of today and then that of the definitions."""

    gvk: GVK
    answered_by: Mapping[Operation, str]
    operations: tuple[Operation, ...] = ()
    """Those that would be registered."""
    objects: int = 0
    compared: Counter[Operation] = field(default_factory=Counter)
    different: Counter[Operation] = field(default_factory=Counter)
    pods: list[int] = field(default_factory=lambda: [0, 0])
    requests: dict[str, list[Quantity]] = field(default_factory=lambda: defaultdict(lambda: [Quantity(0)] * 2))
    dependencies: list[int] = field(default_factory=lambda: [0, 0])
    """How many there are more, and how many less."""

    @property
    def answering(self) -> list[str]:
        """Those who answer today."""
        return [*dict.fromkeys(name for name in self.answered_by.values() if name != NOBODY)]

    @property
    def cells(self) -> tuple[str, ...]:
        """The row of the summary."""
        pods, dependencies = "-", "-"
        operation = next((each for each in _COUNTED if self.compared[each]), None)
        requests = [
            _change(f"{name} ", *amounts) for name, amounts in sorted(self.requests.items()) if len({*amounts}) > 1
        ]
        if operation:
            number = self.different[operation]
            pods = _change("", *self.pods) + (f", {number} differ" if number else "")
        if self.compared[Operation.INTERPRET_DEPENDENCY]:
            words = zip(self.dependencies, ("more", "less"), strict=True)
            dependencies = ", ".join(f"{number} {word}" for number, word in words if number) or "same"
        health, status = map(self._differing, (Operation.INTERPRET_HEALTH, Operation.AGGREGATE_STATUS))
        return (
            self.gvk.kind,
            self.gvk.api_version,
            str(self.objects),
            ", ".join(self.answering) or NOBODY,
            pods,
            ", ".join(requests) or ("same" if operation else "-"),
            health,
            dependencies,
            status,
        )

    def _differing(self, operation: Operation) -> str:
        if not self.compared[operation]:
            return "-"
        number = self.different[operation]
        return f"{number} of {self.compared[operation]} differ" if number else "same"

    def add(self, question: _Question, answer: Answer, changed: Sequence[Difference]) -> None:
        """Count a question with both answers."""
        operation = question.call.operation
        self.compared[operation] += 1
        self.different[operation] += bool(changed)
        for side, given in enumerate((question.today, answer)):
            if not isinstance(given, Mapping):
                continue
            for replicas, requirements in _pod_sets(given):
                self.pods[side] += replicas
                for name, amount in (get(requirements, ("resourceRequest",)) or {}).items():
                    self.requests[name][side] += _times(amount, replicas)
        if operation is Operation.INTERPRET_DEPENDENCY and isinstance(answer, Mapping):
            before, after = (_dependencies(given) for given in (question.today, answer))
            for side, number in enumerate((len(after - before), len(before - after))):
                self.dependencies[side] += number

    def to_json(self) -> Object:
        operations = {
            str(each): {"compared": number, "different": self.different[each]} for each, number in self.compared.items()
        }
        requests = {name: {"from": str(before), "to": str(after)} for name, (before, after) in self.requests.items()}
        return {
            **self.gvk.type_meta,
            "objects": self.objects,
            "today": {str(operation): name for operation, name in self.answered_by.items()},
            "pods": dict(zip(("from", "to"), self.pods, strict=True)),
            "requests": requests,
            "dependencies": dict(zip(("more", "less"), self.dependencies, strict=True)),
            "operations": operations,
        }


class Comparison(Struct):
    """What the definitions of a side answer beside what was read."""

    bindings: Bindings
    side: Side
    options: Options
    explained: bool = False
    kinds: dict[GVK, _Kind] = field(default_factory=dict)
    rows: list[_Row] = field(default_factory=list)
    kept: int = 0
    different: int = 0

    def compare(self) -> None:
        """Compare everything."""
        served = served_kinds(self.bindings.crds)
        for gvk in sorted(self.bindings.kinds):
            operations: tuple[Operation, ...] = ()
            if interpreter := self.side.find(gvk):
                operations = operations_for(
                    interpreter.entry.definition,
                    find_served(served, gvk),
                    multiple_pod_templates=self.bindings.has_components,
                )
            answered_by = {each: self.bindings.answered_by(gvk, each) for each in _COMPARED}
            if not self.bindings.has_components:
                del answered_by[Operation.INTERPRET_COMPONENT]  # which Karmada does not ask
            self.kinds[gvk] = _Kind(gvk, answered_by, operations)
        places = [(gvk, uid) for gvk in self.kinds for uid in self.bindings.kinds[gvk]]
        for gvk, uid in watched(places, "comparing"):
            kind, bound = self.kinds[gvk], self.bindings.get(gvk, uid)
            kind.objects += 1
            interpreter = self.side.find(gvk)
            if interpreter and kind.operations:
                self._compare(kind, bound, interpreter)

    def _compare(self, kind: _Kind, bound: Bound, interpreter: Interpreter) -> None:
        name = full_name(bound.binding["spec"]["resource"])
        questions, problem = list[_Question](), "its template was not read, or there is none"
        if bound.template:
            try:
                questions, problem = [*_questions(bound, bound.template, kind.operations)], ""
            except (InterpretationError, ValueError, RecursionError) as error:
                problem = str(error)
        if problem:
            self._keep(_Row(kind.gvk, name, reasons={"notCompared": problem}))
        references = self.bindings.references if interpreter.entry.definition.references else ()
        for question in questions:
            operation = question.call.operation
            outcome = ask(interpreter, question.call, references, self.options)
            answer = verdict_of(outcome)
            changed = tuple(compare_answers(question.today, answer))
            kind.add(question, answer, changed)
            if not changed:
                continue
            self.different += 1
            reasons, answered_by = {"reason": outcome.reason}, self.bindings.answered_by(kind.gvk, operation)
            if answered_by == KARMADA and interpreter.entry.origin == ORIGIN:
                reasons["known"] = known_reason(kind.gvk, operation, changed)
            elif answered_by.startswith("customization "):
                reasons["note"] = _CUSTOMIZED
            own, lost = namespace(question.call.object), _dependencies(question.today) ^ _dependencies(answer)
            if outcome.results and lost and all(json.loads(each).get("namespace", own) != own for each in lost):
                reasons["known"] = f"dependencies: {ELSEWHERE}"
            if self.explained:
                reasons["cause"] = cause_of(None, interpreter, question.call, references, self.options, changed)
            reasons = {name: reason for name, reason in reasons.items() if reason}
            self._keep(_Row(kind.gvk, name, str(operation), question.cluster, answered_by, changed, reasons))

    def _keep(self, row: _Row) -> None:
        self.kept += len(json.dumps(row.to_json()))
        if self.kept <= _MOST_KEPT:
            self.rows.append(row)

    @property
    def new(self) -> list[_Kind]:
        """The kinds that nobody interprets today."""
        return [kind for kind in self.kinds.values() if kind.operations and not kind.answering]

    @property
    def of_users(self) -> list[_Kind]:
        """The kinds that only scripts and webhooks of the user interpret, today and with the definitions."""
        others = [kind for kind in self.kinds.values() if not kind.operations]
        return [kind for kind in others if kind.answering and KARMADA not in kind.answering]

    def text(self, *, full: bool) -> str:
        """Return the summary, and a row for each difference."""
        header = ("KIND", "APIVERSION", "OBJECTS", "TODAY BY", "PODS", "REQUESTS", "HEALTH", "DEPENDENCIES", "STATUS")
        text = table([kind.cells for kind in self.kinds.values()], header=header)
        for title, kinds in (
            ("nobody interprets today, --to does", self.new),
            ("only scripts or webhooks of users interpret, --to does not", self.of_users),
        ):
            if kinds:
                names = (f"{kind.gvk.kind} ({count(kind.objects, 'object')})" for kind in kinds)
                text += one_line(f"{click.style(title, bold=True)}: {', '.join(names)}") + "\n"
        return "".join([f"{text}\n", *(row.text(full=full) for row in self.rows)])

    def to_json(self) -> JSON:
        """Return everything as JSON."""
        return {
            "kinds": [kind.to_json() for kind in self.kinds.values()],
            "nobodyToday": [kind.gvk.type_meta for kind in self.new],
            "onlyOfUsers": [kind.gvk.type_meta for kind in self.of_users],
            "answers": [row.to_json() for row in self.rows],
            "problems": [*self.bindings.problems],
        }


def show(comparison: Comparison, output: str, *, full: bool) -> None:
    """Print a comparison. Ends the command if something differs or could not be read."""
    warnings = [*comparison.bindings.problems]
    if comparison.kept > _MOST_KEPT:
        warnings.append(f"only {count(len(comparison.rows), 'row')} are kept to be shown; the summary counts all")
    questions = sum(sum(kind.compared.values()) for kind in comparison.kinds.values())
    print_changes(
        comparison.text(full=full) if output == "table" else written(comparison.to_json(), output),
        warnings,
        count(questions, "answer"),
        comparison.different,
        compared=bool(questions),
        known=sum("known" in row.reasons for row in comparison.rows),
    )
    if comparison.bindings.problems or comparison.rows:
        raise SystemExit(Problem.exit_code)


def _questions(bound: Bound, template: Object, operations: Iterable[Operation]) -> Iterator[_Question]:
    """Yield what Karmada has asked about an object, with what it holds of the answer."""
    spec = bound.binding["spec"]
    components = spec.get("components")
    items = tuple(StatusItem.of(item, f"items[{number}]") for number, item in enumerate(bound.items))
    for operation in operations:
        call = Call.of(operation, template, template, None, items)
        if operation is Operation.INTERPRET_COMPONENT:
            yield _Question(call, {"components": components or []})
        elif operation is Operation.INTERPRET_REPLICA and not components:
            yield _Question(call, {"replica": spec.get("replicas", 0), "requires": spec.get("replicaRequirements")})
        elif operation is Operation.INTERPRET_DEPENDENCY and spec.get("propagateDeps"):
            yield _Question(call, {"dependencies": json.loads(str(get(bound.binding, _DEPENDENCIES) or "[]"))})
        elif operation is Operation.AGGREGATE_STATUS and items and _is_karmadas(template):
            yield _Question(call, {"aggregatedStatus": template})
        elif operation is Operation.INTERPRET_HEALTH:
            for cluster, obj, health in bound.reports:
                today: Answer = {"healthy": _HEALTHY[health]} if health in _HEALTHY else f"{ERROR}{health}"
                yield _Question(Call(operation, obj), today, cluster)


def _is_karmadas(template: Object) -> bool:
    """Return whether nobody but Karmada has written the status of a template."""
    entries = objects_in(get(template, ("metadata", "managedFields")))
    managers = (str(entry.get("manager")) for entry in entries if entry.get("subresource") == "status")
    return all(manager.startswith("karmada") for manager in managers)


def _pod_sets(results: Mapping[str, JSON]) -> Iterator[tuple[int, JSON]]:
    """Yield the counts and requirements of an answer about pods."""
    if "replica" in results:
        yield results["replica"] or 0, results.get("requires")
    for component in objects_in(results.get("components")):
        yield component.get("replicas") or 0, component.get("replicaRequirements")


def _times(amount: JSON, number: int) -> Quantity:
    try:
        quantity = Quantity.parse(amount)
    except QuantityError:
        return Quantity(0)
    return Quantity(quantity.nanos * number, quantity.format)


def _dependencies(results: Answer) -> set[str]:
    found = results.get("dependencies") if isinstance(results, Mapping) else None
    return {json.dumps(dependency, sort_keys=True) for dependency in objects_in(found)}


def _change(name: str, before: object, after: object) -> str:
    return f"{name}{before}" if before == after else f"{name}{before} → {after}"
