"""Reads the status items that a person or a program wrote into a text."""

from collections.abc import Iterator

from karta_interpreter.base.errors import InterpretationError, ManifestError
from karta_interpreter.base.k8s.manifest import PlacedValue, elements_of, read_objects
from karta_interpreter.engine.operations.call import StatusItem


def read_items(text: str, source: str, clusters: set[str]) -> Iterator[tuple[PlacedValue, StatusItem]]:
    """Yield the items of a text, one for each document or each element of a list, and add their ``clusters``.

    Raises ManifestError for the first that cannot be used.
    """
    for place in elements_of(read_objects(text, source)):
        try:
            yield place, StatusItem.written(place.value, "the item", clusters)
        except InterpretationError as error:
            line, column = place.position()
            raise ManifestError(str(error), line=line, column=column) from error
