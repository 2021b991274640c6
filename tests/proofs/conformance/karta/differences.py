"""The differences from Karta's library, each with the words of the page that names it."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain

from karta_interpreter.base.k8s.quantity import Quantity
from karta_interpreter.base.k8s.values import JSON, Object
from karta_interpreter.engine.evaluation.attribution import go_text
from karta_interpreter.engine.workload.updates import fields_of
from tests.proofs.conformance.karta.facts import Fact

_NULL_ITERATED = re.compile(r"cannot iterate over: null$")
_NO_PATH = re.compile(r"invalid path on iterating against: array \(.*\)$", re.DOTALL)
_SILENT_POD = re.compile(r"^failed to extract replica key from path .*: query result is empty (<nil>)?$")
_WRITTEN = (
    "Values are written through `min`, `max`, products and functions as well (query.md), "
    "but not through slices, into a list that is null, or through an expression that gives null and names no place."
)
_NO_RESULTS = "instance ids count (1) does not match results count (0)"


@dataclass(frozen=True, slots=True)
class Difference:
    """A reason why an answer may differ. ``row`` is a text of differences.md or docs/query.md."""

    row: str
    explains: Callable[[Fact], bool]


def _refused_here(pattern: str, also: Callable[[Fact], bool] = lambda _: True) -> Callable[[Fact], bool]:
    """Theirs is a value, ours an error whose text ends so."""
    error = re.compile(f"(?:{pattern})$")
    return lambda fact: not fact.theirs.failed and error.search(fact.ours.error) is not None and also(fact)


def _refused_there(error: re.Pattern[str], also: Callable[[Fact], bool]) -> Callable[[Fact], bool]:
    """Theirs is an error whose text is known, ours a value."""
    return lambda fact: not fact.ours.failed and error.search(fact.theirs.error) is not None and also(fact)


def _recorded(fact: Fact, kind: str) -> Iterator[JSON]:
    """What Karta's library answered to one question about each component."""
    for component in fact.record["answer"]["components"].values():
        yield component[kind].get("value")


def _has_repeated_id(fact: Fact) -> bool:
    return any(len(set(ids)) < len(ids) for ids in _recorded(fact, "ids") if ids)


def _has_negative_count(fact: Fact) -> bool:
    scales = chain.from_iterable((found or {}).values() for found in _recorded(fact, "scale"))
    return any(count < 0 for scale in scales for count in scale.values())


def _has_no_instances(fact: Fact) -> bool:
    component = fact.workload.infer_component(fact.pod)
    ids: JSON = fact.record["answer"]["components"][component]["ids"]
    return fact.theirs.value is None and ids == {"value": None}


def _says_nothing(fact: Fact) -> bool:
    """Whether nothing comes of iterating null: no instance, no value, no change."""
    if fact.kind in ("status", "scale"):
        return True  # what is counted and compared there may be anything
    if fact.kind in ("op suspend", "op resume"):
        return True  # other actions may write
    return fact.ours.value in ([], {}, fact.record["question"]["object"])


def _is_written(fact: Fact) -> bool:
    """Whether the scheduler is read at every instance, and nothing is changed where it stays."""
    _, name, *scheduler = fact.about.split(" ")
    changed = fact.workload.replaced(fact.ours.value)
    component = changed.component(name)
    if not scheduler:
        return bool(fact.ours.value == fact.record["question"]["object"])
    written = [spec.scheduler_name for spec in component.fragmented_pod_specs.values()]
    return written == scheduler * len(component.instance_ids)


def _is_computed_key(fact: Fact) -> bool:
    """Whether the keys are the same once whole numbers are written as Go writes floating-point numbers."""
    if fact.kind != "keys" or fact.theirs.failed or fact.ours.failed:
        return False
    written = [go_text(int(key)) if key.isdecimal() and len(key) > 6 else key for key in fact.ours.value]
    return bool(written == fact.theirs.value)


_RESULTS = (
    r"gives \d+ results? for \d+ instance ids of instanceIdPath `[^`]*`; results and ids are paired by position.*"
)

DIFFERENCES = (
    Difference(
        "Iterating a list that is missing or null gives nothing.", _refused_there(_NULL_ITERATED, _says_nothing)
    ),
    Difference(
        "`*` in a plain expression multiplies numbers. It merges objects, at every depth, where one side is an object "
        "by its form: `{a: 1} * .b`, `(.common // {}) * .own`. Merging `.common * .own` and repeating text are errors "
        "there.",
        _refused_here("a (number and a string|string and a number) cannot be multiplied(; .*)?"),
    ),
    Difference(
        "`min` and `max` in a plain expression compare values of one type: to jq the smaller one of "
        '`["many", 3]` is 3, a number of pods that the author did not write.',
        _refused_here("(min|max) compares values of one type, not .*"),
    ),
    Difference(
        "An instance id that is there twice is an error.",
        _refused_here(
            r'two instances have the id "[^"]*" \(the entries \d+ and \d+\): give one another name in the object',
            _has_repeated_id,
        ),
    ),
    Difference(
        "Negative counts are errors.",
        _refused_here("gives '?-[0-9.]+'?; a number of replicas is not negative", _has_negative_count),
    ),
    Difference(
        "Every piece, replicas and bound that gives something gives one result for each instance.",
        _refused_here(_RESULTS),
    ),
    Difference(
        "Replicas that give nothing are an error, also where a bound gives something.",
        _refused_here("replicasPath `[^`]*`: gives 0 results, but a component without instanceIdPath has exactly .*"),
    ),
    Difference(
        "A scale definition without a path is not a scale.",
        _refused_there(re.compile(f"^{re.escape(_NO_RESULTS)}$"), lambda fact: bool(fact.ours.value == {})),
    ),
    Difference(
        "A pod of an instance is an error if the object has no instances.",
        _refused_here(
            "gives null, which says nothing: .*|is of the instance '.*'; the object has none", _has_no_instances
        ),
    ),
    Difference(
        "A pod may lack the key of its replica.",
        _refused_there(_SILENT_POD, lambda fact: fact.ours.value is None),
    ),
    Difference(
        "A key that is a list or an object is an error.",
        _refused_here("gives (a list|an object); a key is a text, number or boolean"),
    ),
    Difference(
        "A large whole number that jq computes from a number of the pod is written without an exponent.",
        _is_computed_key,
    ),
    Difference(
        _WRITTEN,
        _refused_there(_NO_PATH, _is_written),
    ),
    Difference(
        _WRITTEN,
        _refused_here(r"cannot write spec\.(list|parts)\[\d\](\.\w)?: spec\.\1 is null"),
    ),
    Difference(
        "A place behind the end of a list is an error.",
        _refused_here(r"cannot write spec\.(list|parts)\[\d\](\.\w)?: spec\.\1 is a list of \d"),
    ),
)

RAW_PODS = "A pod is read as it is written."


def typed(pod: Object) -> Object:
    """A pod as Go decodes it: unknown fields of the spec and false are lost, quantities have their shortest form.

    >>> typed({"spec": {"hostNetwork": False, "mine": 1, "containers": [{"resources": {"limits": {"cpu": "1000m"}}}]}})
    {'spec': {'containers': [{'resources': {'limits': {'cpu': '1'}}}]}}
    """
    known = fields_of("PodSpec")
    spec = {field: value for field, value in pod.get("spec", {}).items() if field in known and value is not False}
    return {**pod, "spec": {**spec, "containers": [_typed(container) for container in spec.get("containers", ())]}}


def _typed(container: Object) -> Object:
    resources = container.get("resources", {})
    amounts = {
        kind: {name: str(Quantity.parse(amount)) for name, amount in named.items()} for kind, named in resources.items()
    }
    return {**container, "resources": amounts}


def explanation(fact: Fact) -> tuple[Difference | str, ...]:
    """The differences that explain an answer, none where nothing does."""
    found = next((difference for difference in DIFFERENCES if difference.explains(fact)), None)
    if found:
        return (found,)
    if not fact.pod:
        return ()
    decoded = fact.about_pod(typed(fact.pod))
    if decoded.agrees:
        return (RAW_PODS,)
    rest = next((difference for difference in DIFFERENCES if difference.explains(decoded)), None)
    return (RAW_PODS, rest) if rest else ()


def shown(fact: Fact) -> str:
    """A fact for a failure."""
    theirs, ours = (json.dumps(each.value)[:400] + f" {each.error[:400]}" for each in (fact.theirs, fact.ours))
    return f"{fact.record['question']['id']}: {fact.kind} {fact.about}\n  here: {ours}\n  there: {theirs}"
