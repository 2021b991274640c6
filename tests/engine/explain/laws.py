"""The explained answer is the answer: from the facts alone the answer can be made again."""

from collections.abc import Callable, Iterator
from typing import Any

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.edit import get, remove, set_value
from karta_interpreter.base.k8s.values import Object
from karta_interpreter.definitions.karta import Definition, ReferenceReader
from karta_interpreter.definitions.karta.annotations import PREFIX
from karta_interpreter.engine.evaluation.status import match_status
from karta_interpreter.engine.explain import Explanation, Fact, Place, explain
from karta_interpreter.engine.explain.reading import annotation_field
from karta_interpreter.engine.operations import Call, Operation, interpret

_NOTHING = object()


def check_laws(definition: Definition, call: Call, reader: ReferenceReader | None = None) -> Explanation:
    """Fail where an explanation has another answer than `interpret`, or its facts do not make up the answer."""
    found = explain(definition, call, reader=reader)
    assert (found.results, found.error) == _answer(definition, call, reader)
    for fact in found.facts:
        for place in fact.places:
            _check_place(place, call)
    if found.results is not None and not definition.scripts.of(call.operation):
        assert not _of(found, "stopped")
        _LAWS[call.operation](definition, found, found.results)
    return found


def names_annotation(found: Explanation, name: str) -> bool:
    """Return whether a fact or a layer of an explanation names an annotation of the definition."""
    field = annotation_field(name)
    if any(field == fact.field or field in fact.note for fact in found.facts):
        return True
    return any(layer.note.endswith(f"{PREFIX}{name}") for layer in found.layers)


def _answer(definition: Definition, call: Call, reader: ReferenceReader | None) -> tuple[Any, str]:
    try:
        return interpret(definition, call, reader=reader), ""
    except InterpretationError as error:
        return None, str(error)


def _check_place(place: Place, call: Call) -> None:
    if place.source == "items":
        reported = next(item.status for item in call.items if item.cluster == place.cluster)
        assert get({"status": reported}, place.path, _NOTHING) == place.value or place.path[-1] is None
        return
    value = get(call.observed if place.source == "observed" else call.object, place.path, _NOTHING)
    assert (value is not _NOTHING, None if value is _NOTHING else value) == (place.exists, place.value), place


def _of(found: Explanation, *rules: str) -> list[Fact]:
    return [fact for fact in found.facts if fact.rule in rules]


def _replica(definition: Definition, found: Explanation, results: Any) -> None:
    pods = sum(fact.value for fact in _of(found, "count"))
    if definition.annotations.unit is not None:
        (units,) = _of(found, "unit")
        request = (results["requires"] or {}).get("resourceRequest")
        assert (units.value, pods % (units.value or 1)) == (results["replica"], 0)
        assert not request or request in [fact.value for fact in _of(found, "requirement")]
        return
    assert pods == results["replica"]
    for name, amount in ((results["requires"] or {}).get("resourceRequest") or {}).items():
        assert amount in [fact.value for fact in _of(found, "request") if fact.answer.endswith(_escaped(name))], name


def _component(_: Definition, found: Explanation, results: Any) -> None:
    facts = {fact.answer: fact.value for fact in _of(found, "name", "count", "request", "requirement")}
    expected = {}
    for index, each in enumerate(results["components"]):
        expected[f"/components/{index}/name"] = each["name"]
        expected[f"/components/{index}/replicas"] = each["replicas"]
        requirements = dict(each.get("replicaRequirements", {}))
        for name, amount in requirements.pop("resourceRequest", {}).items():
            expected[f"/components/{index}/replicaRequirements/resourceRequest/{_escaped(name)}"] = amount
        for name, value in requirements.items():
            expected[f"/components/{index}/replicaRequirements/{name}"] = value
    assert facts == expected


def _revised(_: Definition, found: Explanation, results: Any) -> None:
    obj: Object = found.call.object
    for fact in _of(found, "written", "divided"):
        obj = set_value(obj, fact.places[0].path, fact.value)
    assert obj == results["revised"]


def _retained(_: Definition, found: Explanation, results: Any) -> None:
    obj: Object = found.call.object
    for fact in _of(found, "retained"):
        place = _path(fact.answer, {"retained": obj})[1:]
        obj = remove(obj, place) if fact.note.endswith("is removed") else set_value(obj, place, fact.value)
    assert obj == results["retained"]


def _aggregated(_: Definition, found: Explanation, results: Any) -> None:
    before, after = found.call.object.get("status") or {}, results["aggregatedStatus"].get("status") or {}
    answer, explained = {"aggregatedStatus": {"status": after}}, set[tuple[str | int, ...]]()
    for fact in _of(found, "aggregated"):
        path = _path(fact.answer, answer)
        assert get(answer, path) == fact.value
        explained.add(path)
    for leaf in () if before == after else _leaves(answer):
        assert any(leaf[:depth] in explained for depth in range(len(leaf) + 1)), leaf


def _leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = [leaf for key, part in parts for leaf in _leaves(part, (*path, key))]
    yield from found if found or isinstance(value, dict | list) else [path]


def _status(_: Definition, found: Explanation, results: Any) -> None:
    facts = {fact.answer: fact.value for fact in _of(found, "status") if fact.answer}
    assert facts == {f"/status/{_escaped(field)}": value for field, value in results["status"].items()}


def _health(definition: Definition, found: Explanation, results: Any) -> None:
    (verdict,) = _of(found, "verdict")
    assert verdict.value is results["healthy"]
    matched = {fact.value for fact in _of(found, "matched")}
    if definition.annotations.health is None and definition.status:
        assert matched == {*match_status(definition, found.call.object).matched} - {"Undefined"}


def _dependency(_: Definition, found: Explanation, results: Any) -> None:
    facts = {fact.answer: fact.value for fact in _of(found, "dependency")}
    assert facts == {f"/dependencies/{index}": each for index, each in enumerate(results["dependencies"])}


_LAWS: dict[Operation, Callable[[Definition, Explanation, Any], None]] = {
    Operation.INTERPRET_REPLICA: _replica,
    Operation.INTERPRET_COMPONENT: _component,
    Operation.REVISE_REPLICA: _revised,
    Operation.RETAIN: _retained,
    Operation.AGGREGATE_STATUS: _aggregated,
    Operation.INTERPRET_STATUS: _status,
    Operation.INTERPRET_HEALTH: _health,
    Operation.INTERPRET_DEPENDENCY: _dependency,
}


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _path(pointer: str, document: Object) -> tuple[str | int, ...]:
    """Return the path of a pointer. A step into a list is an index."""
    path: tuple[str | int, ...] = ()
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        path = (*path, int(name) if isinstance(get(document, path), list) else name)
    return path
