"""The workload that a command reads through its Karta."""

from collections.abc import Iterable, Sequence

from karta_interpreter.base.k8s.values import GVK, Object
from karta_interpreter.cli.definitions import interpreter_for
from karta_interpreter.cli.files import read_objects
from karta_interpreter.cli.program import UsageProblem
from karta_interpreter.engine.workload import Karta, Workload


def workload_of(obj: Object, filenames: Sequence[str], references: Iterable[str]) -> Workload:
    """Return the object with the Karta of its kind; a UsageProblem where only scripts answer for the kind."""
    definition = interpreter_for(GVK.of(obj), filenames, ()).entry.definition
    if not definition.has_karta:
        raise UsageProblem(f"error: {definition.name} is not a Karta: scripts do not describe components")
    workload = Workload(Karta(definition), obj)
    found = [obj for path in references for obj in read_objects(path)]
    return workload.with_references(found) if found else workload
