"""What an operation is given on the command line, by karmadactl's rules (``pkg/karmadactl/interpret``)."""

from dataclasses import dataclass

from karta_interpreter.cli.errors import UsageProblem
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import Object
from karta_interpreter.operations import Call, Operation, StatusItem

_NO_OBJECT = "desired-file, observed-file options are not set"
ORDER = (
    Operation.RETAIN,
    Operation.INTERPRET_REPLICA,
    Operation.INTERPRET_COMPONENT,
    Operation.REVISE_REPLICA,
    Operation.INTERPRET_STATUS,
    Operation.AGGREGATE_STATUS,
    Operation.INTERPRET_HEALTH,
    Operation.INTERPRET_DEPENDENCY,
)
"""The operations as karmadactl lists them."""

_LIVE = frozenset({Operation.INTERPRET_STATUS, Operation.INTERPRET_HEALTH})
"""Operations that Karmada asks of the object in a member cluster."""


def operation_named(name: str) -> Operation:
    """The operation of that name in any case.

    >>> operation_named("interpretreplica")
    <Operation.INTERPRET_REPLICA: 'InterpretReplica'>
    """
    for operation in Operation:
        if operation.lower() == name.lower():
            return operation
    names = ", ".join(ORDER)
    raise UsageProblem(f"error: operation {name} is not supported. Use one of: {names}")


@dataclass(frozen=True, slots=True)
class Arguments:
    """The objects and values that were given; None for each that was not."""

    desired: Object | None = None
    observed: Object | None = None
    items: tuple[StatusItem, ...] | None = None
    replicas: int | None = None

    def __post_init__(self) -> None:
        if self.desired is not None and self.observed is not None:
            desired, observed = GVK.of(self.desired), GVK.of(self.observed)
            if desired != observed:
                message = f"error: the desired object is {desired}, but the observed one is {observed}"
                raise UsageProblem(message)

    def call(self, operation: Operation) -> Call:
        """The call of one operation; a UsageProblem when arguments are missing or too many."""
        if operation is not Operation.RETAIN and self.desired is not None and self.observed is not None:
            raise _wrong(operation, "you can not specify both desired-file and observed-file options")
        missing = self.missing(operation)
        if missing:
            raise _wrong(operation, missing)
        return self._call(operation)

    def calls(self) -> list[Call]:
        """The calls of all operations that have what they need."""
        if self.desired is None and self.observed is None:
            raise UsageProblem(f"error: {_NO_OBJECT}")
        return [self._call(operation) for operation in Operation if not self.missing(operation)]

    def missing(self, operation: Operation) -> str:
        """What an operation needs and was not given, in karmadactl's words; empty when it has all."""
        if operation is Operation.RETAIN:
            if self.desired is None:
                return "desired, desired-file options are not set"
            return "observed, observed-file options are not set" if self.observed is None else ""
        if self.desired is None and self.observed is None:
            return _NO_OBJECT
        # karmadactl would scale to 0 here, and aggregate nothing, which is never meant.
        if operation is Operation.REVISE_REPLICA and self.replicas is None:
            return "desired-replica option is not set"
        if operation is Operation.AGGREGATE_STATUS and self.items is None:
            return "status-file option is not set"
        return ""

    def _call(self, operation: Operation) -> Call:
        objects = (self.observed, self.desired) if operation in _LIVE else (self.desired, self.observed)
        return Call(
            operation,
            next(obj for obj in objects if obj is not None),
            observed=self.observed if operation is Operation.RETAIN else None,
            replicas=self.replicas if operation is Operation.REVISE_REPLICA else None,
            items=self.items or (),
        )


def _wrong(operation: Operation, message: str) -> UsageProblem:
    return UsageProblem(f"Execute {operation} error: {message}")
