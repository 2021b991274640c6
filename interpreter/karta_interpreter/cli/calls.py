"""Calls from the arguments of a command, and their outcomes."""

from collections.abc import Mapping, Sequence
from typing import Self

from msgspec import Struct

from karta_interpreter.base.findings import escaped
from karta_interpreter.base.k8s import GVK, Object, full_name
from karta_interpreter.cli.definitions import interpreter_for, kinds_of
from karta_interpreter.cli.files import named, read_items, read_object
from karta_interpreter.cli.options import NO_OBJECT
from karta_interpreter.cli.program import UsageProblem
from karta_interpreter.cli.render import say
from karta_interpreter.engine.comparison.interpreter import Interpreter
from karta_interpreter.engine.operations import (
    Call,
    Operation,
    StatusItem,
    TargetComponent,
)

# The messages of karmadactl for a missing option.
_WITHOUT = {
    "--desired-file": "desired, desired-file options are not set",
    "--observed-file": "observed, observed-file options are not set",
    "--desired-replica": "desired-replica option is not set",
    "--components": "components option is not set",
    "--status-file": "status-file option is not set",
}
_NEEDED = {
    Operation.RETAIN: {"--desired-file": "desired", "--observed-file": "observed"},
    # karmadactl would scale to 0 here, and aggregate no items, which is never intended.
    Operation.REVISE_REPLICA: {"--desired-replica": "replicas"},
    Operation.REVISE_COMPONENTS: {"--components": "components"},
    Operation.AGGREGATE_STATUS: {"--status-file": "items"},
}
ORDER = (
    Operation.RETAIN,
    Operation.INTERPRET_REPLICA,
    Operation.INTERPRET_COMPONENT,
    Operation.REVISE_REPLICA,
    Operation.REVISE_COMPONENTS,
    Operation.INTERPRET_STATUS,
    Operation.AGGREGATE_STATUS,
    Operation.INTERPRET_HEALTH,
    Operation.INTERPRET_DEPENDENCY,
)
"""The operations as karmadactl lists them."""


_PREFIX = "interpret"


def operation_named(name: str) -> Operation:
    """Return the operation of that name in any case.

    >>> operation_named("interpretreplica")
    <Operation.INTERPRET_REPLICA: 'InterpretReplica'>
    """
    supported = {operation.lower(): operation for operation in ORDER}.get(name.lower())
    if supported is None:
        hint = "Give one, or none to ask all of them. " if "," in name else ""
        raise UsageProblem(f"error: operation {name} is not supported. {hint}Use one of: {', '.join(ORDER)}")
    return supported


class Arguments(Struct, frozen=True):
    """The given objects and values. Each that was not given is None."""

    desired: Object | None = None
    observed: Object | None = None
    items: tuple[StatusItem, ...] | None = None
    replicas: int | None = None
    components: Mapping[str, int] | None = None

    @classmethod
    def read(
        cls,
        filenames: Sequence[str],
        *,
        desired: str | None,
        observed: str | None,
        items: str | None,
        replicas: int | None,
        components: Mapping[str, int] | None,
    ) -> Self:
        """Read the objects and the items of files. ``filenames`` has the definitions of their kinds."""
        template = member = status = None
        if desired is not None:
            template = read_object(desired, lambda: kinds_of(filenames))
        if observed is not None:
            member = read_object(observed, lambda: kinds_of(filenames))
        if items is not None:
            status = read_items(items)
        arguments = cls(template, member, status, replicas, components)
        if template and member and full_name(template.get("metadata")) != full_name(member.get("metadata")):
            names = f"{named(template)}, and the observed one {named(member)}"
            say(escaped(f"warning: the desired object is {names}"), err=True)
        return arguments

    def __post_init__(self) -> None:
        if self.desired is not None and self.observed is not None:
            desired, observed = GVK.of(self.desired), GVK.of(self.observed)
            if desired != observed:
                raise UsageProblem(f"error: the desired object is {desired}, but the observed one is {observed}")

    def call(self, operation: Operation) -> Call:
        """Return the call of one operation. Raises UsageProblem if arguments are missing or too many."""
        wrong = _WITHOUT.get(self.missing(operation))
        given = [obj for obj in (self.desired, self.observed) if obj is not None]
        if operation is not Operation.RETAIN and len(given) != 1:
            wrong = "you can not specify both desired-file and observed-file options" if given else NO_OBJECT
        if wrong:
            raise UsageProblem(f"Execute {operation} error: {wrong}")
        return self._call(operation)

    def calls(self) -> list[Call]:
        """Return the calls of all operations that have the arguments they need."""
        if self.desired is None and self.observed is None:
            raise UsageProblem(f"error: {NO_OBJECT}")
        return [self._call(operation) for operation in Operation if not self.missing(operation)]

    def missing(self, operation: Operation) -> str:
        """Return the option that an operation about an object lacks, or "" if it has all."""
        for option, field in _NEEDED.get(operation, {}).items():
            if getattr(self, field) is None:
                return option
        return ""

    def _call(self, operation: Operation) -> Call:
        objects = [obj for obj in (self.desired, self.observed) if obj is not None]
        # A lone object is the template and the live object, as karmadactl takes it.
        components = tuple(TargetComponent(*target) for target in (self.components or {}).items())
        return Call.of(operation, objects[0], objects[-1], self.replicas, self.items or (), components)


def calls_for(
    arguments: Arguments, operation: str | None, filenames: Sequence[str], overrides: Sequence[str]
) -> tuple[Interpreter, list[Call]]:
    """Return the interpreter of the object's kind, and the call of the named operation or of all that it answers."""
    calls = [arguments.call(operation_named(operation))] if operation is not None else arguments.calls()
    if operation is not None:
        for reading_operation, options in _NEEDED.items():
            is_read = reading_operation in (Operation.RETAIN, calls[0].operation)  # every operation reads the objects
            if not is_read and not arguments.missing(reading_operation):
                say(f"warning: only {reading_operation} reads {' and '.join(options)}", err=True)
    interpreter = interpreter_for(GVK.of(calls[0].object), filenames, overrides)
    if not (asked := [call for call in calls if operation or interpreter.is_asked(call.operation)]):
        lacking = (f"{name}: pass {arguments.missing(name)}" for name in Operation if interpreter.is_asked(name))
        raise UsageProblem(f"error: {interpreter.entry.definition.name} answers {', '.join(lacking) or 'nothing'}")
    return interpreter, asked


def print_line(line: str, source: str = "") -> None:
    """Write a line that a script prints to stderr, behind the source of its object."""
    say(f"{source}{line}", err=True)
