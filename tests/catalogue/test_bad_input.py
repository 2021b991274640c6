"""Counts that are no counts: an error that says where, or the default for null; never a number that nobody wrote."""

from collections.abc import Iterator, Mapping, Sequence

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import edit
from karta_interpreter.base.k8s.values import JSON, Object, Path
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.evaluation.pods import pod_sets, scale_locations
from karta_interpreter.languages.jq import Location
from tests.catalogue.knowledge import knowing

NO_COUNTS: Mapping[str, JSON] = {
    "text": "several",
    "a truth value": True,
    "a list": [],
    "an object": {"count": 1},
    "a fraction": 1.5,
    "less than nothing": -1,
}


def test_invalid_count_is_an_error_that_names_it(definition: Definition, objects: Sequence[Object]) -> None:
    taken = [
        f"{reason} at {location.path}: {said}"
        for obj, component, location in _counts(definition, objects)
        for reason, wrong in NO_COUNTS.items()
        if not _stands_for_a_count(location, wrong)
        if component not in (said := _said(definition, edit.set_value(obj, location.path, wrong)))
    ]
    assert not taken, "\n".join(taken)


def _said(definition: Definition, obj: Object) -> str:
    """The error that an object gives; no text for an object that has none."""
    try:
        pod_sets(knowing(definition, obj), obj)
    except InterpretationError as error:
        return str(error)
    return ""


def _stands_for_a_count(location: Location, wrong: JSON) -> bool:
    """Whether the definition says what a number comes to: a bound replaces it, a factor may make it whole."""
    is_number = type(wrong) in (int, float)
    return is_number and (location.floor is not None or (wrong == 1.5 and location.factor != 1))


def _counts(definition: Definition, objects: Sequence[Object]) -> Iterator[tuple[Object, str, Location]]:
    """Each place that a count of pods is read from, once for each way to get there."""
    seen: set[Path] = set()
    for obj in objects:
        try:
            scales = scale_locations(knowing(definition, obj), obj)
        except InterpretationError:
            continue
        for scale in scales:
            location = scale.replicas
            if location and location.path not in seen and location.raw(obj) is not None:
                seen.add(location.path)
                yield obj, scale.pod_set.component, location
