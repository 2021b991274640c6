"""The edge at which a definition without an answer becomes an error about the workload, and how it names things."""

from collections.abc import Iterator
from contextlib import contextmanager

from karta_interpreter.errors import InterpretationError, WorkloadError
from karta_interpreter.karta.definition import Component


@contextmanager
def reading() -> Iterator[None]:
    """Raise WorkloadError for what a definition cannot answer about an object."""
    try:
        yield
    except InterpretationError as err:
        raise WorkloadError(str(err)) from err


def named(component: Component) -> str:
    """A component as every error names it."""
    return f"definition {component.definition}, component {component.name}"
