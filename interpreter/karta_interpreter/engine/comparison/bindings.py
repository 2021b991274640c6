"""What a Karmada holds of its workloads, beside the answers of definitions."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import GVK, JSON, NewObject, Object, Quantity, full_name, get, namespace, objects_in
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.definitions.sources import ORIGIN
from karta_interpreter.engine.comparison.cause import cause_of
from karta_interpreter.engine.comparison.change import Change, verdict_of
from karta_interpreter.engine.comparison.effects import (
    KEEPS_ALL,
    Capacity,
    Effect,
    added_usage,
    change_of_unit,
    division,
    first_run,
    move,
    no_room,
    pod_sets,
    quantity_of,
    refusal,
    uncounted,
    unwritten,
)
from karta_interpreter.engine.comparison.interpreter import CallOutcome, Interpreter, ask
from karta_interpreter.engine.comparison.known import known_reason
from karta_interpreter.engine.comparison.unit import size_of_unit, unit_change
from karta_interpreter.engine.operations import ELSEWHERE, Call, OnPrint, Operation, Options, StatusItem
from karta_interpreter.engine.registered.interpreters import KARMADA, NOBODY, Interpreters, kinds_of
from karta_interpreter.engine.registered.operations import ServedKind, operations_for
from karta_interpreter.engine.registered.pairs import Others, others_of
from karta_interpreter.engine.suites import ERROR, Answer, Difference, compare_answers
from karta_interpreter.engine.suites.agreement import compare_counts, examples_of

COUNTED: Final = (Operation.INTERPRET_REPLICA, Operation.INTERPRET_COMPONENT)
OURS: Final = "karta-interpreter"
"""The default name of this server's registration."""
_COMPARED: Final = (
    *COUNTED,
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


class Reported(NamedTuple):
    """The object of a member as Karmada knows it, and the health that Karmada holds of it."""

    cluster: str
    object: Object
    health: str


class Bound(NamedTuple):
    """A binding with its template, None if there is none, and what members report."""

    gvk: GVK
    binding: Object
    template: Object | None
    reports: tuple[Reported, ...]


def items_of(binding: Object) -> list[Object]:
    """Return what a binding has of each cluster."""
    return objects_in(get(binding, ("status", "aggregatedStatus")))


class _Question(NamedTuple):
    call: Call
    today: Answer
    cluster: str = ""


class KindTotals(Struct):
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
    others: Others = Others()
    """Who else Karmada asks first."""
    left_out: Mapping[str, str] = {}
    """The operations that are not registered because of them, each with the reason."""

    is_first_divided: bool = False
    """Whether ReviseReplica is answered from now on, and by nobody today."""

    @property
    def answering(self) -> list[str]:
        """Those who answer today."""
        return [*dict.fromkeys(name for name in self.answered_by.values() if name != NOBODY)]

    def add(
        self, question: _Question, answer: Answer, changed: Sequence[Difference], unit: tuple[int, int] = (0, 0)
    ) -> None:
        """Count a question with both answers. ``unit`` is the number of units, and of pods in each."""
        operation = question.call.operation
        self.compared[operation] += 1
        self.different[operation] += bool(changed)
        for side, given in enumerate((question.today, answer)):
            is_of_units = operation is Operation.INTERPRET_REPLICA and _mapping(given).get("replica") == unit[0]
            for replicas, requests in pod_sets(_mapping(given)):
                self.pods[side] += replicas * unit[1] if is_of_units and unit[1] else replicas
                for name, amount in requests.items():
                    quantity = quantity_of(amount)
                    self.requests[name][side] += Quantity(quantity.nanos * replicas, quantity.format)
        if operation is Operation.INTERPRET_DEPENDENCY and isinstance(answer, Mapping):
            before, after = (_dependencies(given) for given in (question.today, answer))
            for side, number in enumerate((len(after - before), len(before - after))):
                self.dependencies[side] += number

    def to_json(self) -> Object:
        """Return the numbers for machines."""
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
            "notRegistered": dict(self.left_out),
        }


class Comparison(Struct):
    """What the definitions of a side answer beside what a Karmada holds."""

    find: Callable[[GVK], Interpreter | None]
    interpreters: Interpreters
    options: Options
    references: Sequence[Object] = ()
    has_components: bool = False
    """Whether bindings have components: the gate MultiplePodTemplatesScheduling is on."""
    explained: bool = False
    on_print: OnPrint = None
    capacity: Capacity = Capacity()
    effects: list[tuple[GVK, str, Effect]] = field(default_factory=list)
    """What happens to objects, as many as there are bindings, or "" for all objects of a kind."""
    _usages: list[tuple[GVK, str, Object, Sequence[Mapping[str, int]]]] = field(default_factory=list)
    kinds: dict[GVK, KindTotals] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    kept: int = 0
    different: int = 0

    def begin(self, gvk: GVK, served: ServedKind | None) -> None:
        """Add a kind of which there are bindings, before they are compared."""
        answered_by = {operation: self.interpreters.answering(gvk, operation) for operation in _COMPARED}
        if not self.has_components:
            del answered_by[Operation.INTERPRET_COMPONENT]  # which Karmada does not ask
        self.kinds[gvk] = kind = KindTotals(gvk, answered_by)
        if not (interpreter := self.find(gvk)):
            return
        definition = interpreter.entry.definition
        registered = partial(operations_for, definition, served, multiple_pod_templates=self.has_components)
        kind.others = others = self._others(gvk, definition)
        ours = [webhook for webhook in self.interpreters.webhooks if webhook.configuration == OURS]
        kind.operations = registered(others=others, registered=kinds_of(ours).get(gvk, ()))
        revise = Operation.REVISE_REPLICA
        kind.is_first_divided = revise in kind.operations and self.interpreters.answering(gvk, revise) == NOBODY
        missing = [operation for operation in registered() if operation not in kind.operations]
        kind.left_out = {operation: others.why(gvk, operation) for operation in missing}

    def _others(self, gvk: GVK, definition: Definition) -> Others:
        """Return who else is asked first about a kind, compared with its definition."""
        found = others_of([gvk], self.interpreters.customizations, self.interpreters.webhooks, OURS)
        others = found.get(gvk, Others())
        if not others.half or not others.scripts:
            return others
        return replace(others, agreement=compare_counts(definition, others.half, others.scripts, examples_of(gvk)))

    def compare(self, bound: Bound) -> None:
        """Compare the answers about an object."""
        kind, interpreter = self.kinds[bound.gvk], self.find(bound.gvk)
        kind.objects += 1
        if not (interpreter and kind.operations):
            return
        questions, problem = list[_Question](), "its template was not read, or there is none"
        if bound.template:
            try:
                questions, problem = [*_questions(bound, bound.template, kind.operations)], ""
            except (InterpretationError, ValueError, RecursionError) as error:
                problem = str(error)
        name = full_name(bound.binding["spec"]["resource"])
        if problem:
            self._keep(Change(kind.gvk, name, reasons={"notCompared": problem}))
        answers = [(question, self._ask(kind, name, interpreter, question)) for question in questions]
        self._predict(kind, name, bound, answers)

    def compare_unbound(self, gvk: GVK, obj: Object, policy: str) -> None:
        """Add what happens to an object that a policy selects and that has no binding.

        Karmada makes none if InterpretReplica or InterpretComponent fails (``BuildResourceBinding`` in
        ``pkg/detector/detector.go``).
        """
        kind, interpreter = self.kinds[gvk], self.find(gvk)
        operation = next((each for each in reversed(COUNTED) if each in kind.operations), None)
        today = self.interpreters.answering(gvk, operation) if operation else NOBODY
        if interpreter is None or operation is None or today == NOBODY:
            return
        outcome = ask(interpreter, Call(operation, obj), self.references, self.options, self.on_print)
        if outcome.results and operation not in kind.others.names:
            self.effects.append((gvk, full_name(obj["metadata"]), first_run(policy, today)))

    def _predict(self, kind: KindTotals, name: str, bound: Bound, answers: Sequence[tuple[_Question, Answer]]) -> None:
        """Add what happens to an object, by the answers about it."""
        count, counted, unhealthy = bound.binding["spec"].get("replicas") or 0, NewObject(), list[str]()
        effects = list[Effect | None]()
        for question, answer in answers:
            operation = question.call.operation
            if operation in kind.others.names:
                continue
            if not isinstance(answer, Mapping):
                effects += [uncounted(answer)] if operation in COUNTED else []
                continue
            count = answer.get("replica", count)
            if operation in COUNTED and any(compare_answers(question.today, answer)):
                counted = {**answer}
            if answer.get("healthy") is False and _mapping(question.today).get("healthy") is not False:
                unhealthy.append(question.cluster)
        is_revised = Operation.REVISE_REPLICA in kind.operations
        effects.append(no_room(bound.binding, counted, self.capacity, is_revised=is_revised))
        effects.append(move(bound.binding, unhealthy))
        if kind.is_first_divided:
            refused, stays = partial(self._refused, bound), partial(self._stays, bound)
            effects.append(division(bound.binding, count, refused, stays))
        elif is_revised:
            effects.append(self._divided_today(bound))
        elif counted and not bound.binding["spec"].get("replicas"):
            effects.append(division(bound.binding, count, None))
        self.effects += [(kind.gvk, name, effect) for effect in effects if effect]
        if counted:
            self._usages.append((kind.gvk, name, bound.binding, added_usage(bound.binding, counted)))

    def _divided_today(self, bound: Bound) -> Effect | None:
        """Return what becomes of the shares that clusters have today."""
        interpreter = self.find(bound.gvk)
        if interpreter is None or bound.template is None:
            return None
        units, pods = size_of_unit(interpreter.entry.definition, bound.template, self.options)
        effect = change_of_unit(bound.binding, units, pods)
        return effect or unwritten(bound.binding, partial(self._refused, bound))

    def _refused(self, bound: Bound, share: int) -> str:
        """Return why a cluster cannot have a share of a workload, "" if it can."""
        interpreter = self.find(bound.gvk)
        if interpreter is None or bound.template is None:
            return ""
        return self._share(interpreter, bound.template, share).error or ""

    def _stays(self, bound: Bound, share: int) -> bool:
        """Return whether a cluster that runs the whole keeps it, because the member refuses a share of it."""
        interpreter, template = self.find(bound.gvk), bound.template
        if interpreter is None or template is None or not interpreter.entry.definition.answers(Operation.RETAIN):
            return False
        revised = (self._share(interpreter, template, share).results or {}).get("revised")
        if revised is None or revised == template:
            return False
        call = Call(Operation.RETAIN, revised, observed=template)
        outcome = ask(interpreter, call, self.references, self.options, self.on_print)
        return (outcome.results or {}).get("retained") == template

    def _share(self, interpreter: Interpreter, template: Object, share: int) -> CallOutcome:
        call = Call(Operation.REVISE_REPLICA, template, replicas=share)
        return ask(interpreter, call, self.references, self.options, self.on_print)

    def finish(self) -> None:
        """Add what quotas do, when all usage is known, and put the worst effects first."""
        together: dict[str, Counter[str]] = defaultdict(Counter)
        for _, _, binding, added in self._usages:
            for step in added:
                together[namespace(binding)].update(step)
        for gvk, name, binding, added in self._usages:
            if effect := refusal(binding, added, together[namespace(binding)], self.capacity):
                self.effects.append((gvk, name, effect))
        reflected = Operation.INTERPRET_STATUS
        for gvk, kind in self.kinds.items():
            is_karmadas = self.interpreters.answering(gvk, reflected) == KARMADA
            if kind.objects and reflected in kind.operations and is_karmadas:
                self.effects.append((gvk, "", KEEPS_ALL))
        self.effects.sort(key=lambda effect: (effect[2].severity, effect[:2]))

    def _ask(self, kind: KindTotals, name: str, interpreter: Interpreter, question: _Question) -> Answer:
        operation = question.call.operation
        is_read = interpreter.entry.definition.references or self.options.looked_up
        references = self.references if is_read else ()
        outcome = ask(interpreter, question.call, references, self.options, self.on_print)
        answer = verdict_of(outcome)
        changed = tuple(compare_answers(question.today, answer))
        unit = size_of_unit(interpreter.entry.definition, question.call.object, self.options)
        kind.add(question, answer, changed, unit)
        if not changed:
            return answer
        self.different += 1
        today, reasons = self.interpreters.answering(kind.gvk, operation), {"reason": outcome.reason}
        if today == KARMADA and interpreter.entry.origin == ORIGIN:
            reasons["known"] = known_reason(kind.gvk, operation, changed)
        elif today.startswith("customization "):
            reasons["note"] = _CUSTOMIZED
        elif note := unit_change(None, interpreter, question.call, self.options, changed):
            reasons["note"] = note
        own, lost = namespace(question.call.object), _dependencies(question.today) ^ _dependencies(answer)
        if outcome.results and lost and all(json.loads(each).get("namespace", own) != own for each in lost):
            reasons["known"] = f"dependencies: {ELSEWHERE}"
        if self.explained:
            reasons["cause"] = cause_of(None, interpreter, question.call, references, self.options, changed)
        reasons = {name: reason for name, reason in reasons.items() if reason}
        self._keep(Change(kind.gvk, name, operation, changed, today=today, cluster=question.cluster, reasons=reasons))
        return answer

    def _keep(self, change: Change) -> None:
        self.kept += len(json.dumps(change.to_json()))
        if self.kept <= _MOST_KEPT:
            self.changes.append(change)

    @property
    def is_whole(self) -> bool:
        """Whether all changes are kept to be shown."""
        return self.kept <= _MOST_KEPT

    @property
    def new(self) -> list[KindTotals]:
        """The kinds that nobody interprets today."""
        return [kind for kind in self.kinds.values() if kind.operations and not kind.answering]

    @property
    def of_users(self) -> list[KindTotals]:
        """The kinds that only scripts and webhooks of the user interpret, today and with the definitions."""
        others = [kind for kind in self.kinds.values() if not kind.operations]
        return [kind for kind in others if kind.answering and KARMADA not in kind.answering]

    def to_json(self) -> Object:
        """Return everything as JSON."""
        return {
            "kinds": [kind.to_json() for kind in self.kinds.values()],
            "nobodyToday": [kind.gvk.type_meta for kind in self.new],
            "onlyOfUsers": [kind.gvk.type_meta for kind in self.of_users],
            "effects": [
                {**gvk.type_meta, "object": name, "effect": effect.severity.name.lower(), "text": effect.text}
                for gvk, name, effect in self.effects
            ],
            "answers": [change.to_json() for change in self.changes],
        }


def _questions(bound: Bound, template: Object, operations: Iterable[Operation]) -> Iterator[_Question]:
    """Yield what Karmada has asked about an object, with what it holds of the answer."""
    spec = bound.binding["spec"]
    components = spec.get("components")
    items = tuple(StatusItem.of(item, f"items[{number}]") for number, item in enumerate(items_of(bound.binding)))
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


def _mapping(answer: Answer) -> Mapping[str, JSON]:
    return answer if isinstance(answer, Mapping) else {}


def _dependencies(results: Answer) -> set[str]:
    found = objects_in(_mapping(results).get("dependencies"))
    return {json.dumps(dependency, sort_keys=True) for dependency in found}
