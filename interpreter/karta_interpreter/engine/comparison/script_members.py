"""Templates and members that are made from what a script of Retain reads of the member."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeAlias

from karta_interpreter.base.k8s import JSON, NOTHING, Object, Path, get
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.engine.operations import Operation
from karta_interpreter.languages.lua.script_reads import Steps, member_reads

MEMBER: Final = "member"
ADDED: Final = f"{MEMBER}.example.com/added"
# Ends of fields that match elements of lists. Other values in them would make another object.
_IDENTITIES: Final = ("name", "type", "kind", "version", "id", "image")
_NAMES: Final = ("name", "namespace", "type", "kind", "apiVersion")
# Maps of texts. What a script takes the entries of is a list elsewhere, if the object does not show it.
_MAPS: Final = ("labels", "annotations", "matchLabels", "nodeSelector", "limits", "requests", "data", "stringData")
_Change: TypeAlias = Callable[[Any], Any]
Reads: TypeAlias = dict[Steps, list[JSON]]


def unasked(definitions: Iterable[Definition]) -> Iterator[str]:
    """Yield what scripts of Retain read of a member by keys that are known only when they run."""
    for definition in definitions:
        for script in definition.scripts.of(Operation.RETAIN):
            for path in member_reads(script)[1]:
                yield f"the script of Retain in {script.name} reads {path} of the member, not asked"


def reads_of(definitions: Iterable[Definition]) -> Reads:
    """Return what scripts of Retain read of a member, each with the values that they compare it with."""
    reads: Reads = {}
    for definition in definitions:
        for script in definition.scripts.of(Operation.RETAIN):
            reads.update(member_reads(script)[0])
    return reads


def value_as_read(path: Path, reads: Reads) -> Any:  # noqa: ANN401 - JSON or NOTHING
    """Return a value for a path in the form in which scripts read it: a list if they take its entries.

    Return NOTHING for a path that no script reads.

    >>> value_as_read(("env",), {("env", None, "name"): [], ("env", None, "value"): ["on"]})
    [{'name': 'member', 'value': 'on'}, {'name': 'member', 'value': 'on'}]
    """
    value: Any = NOTHING
    for steps, values in reads.items():
        if all(step in (None, key) for step, key in zip(steps, path, strict=False)):
            value = _changed(value, steps[len(path) :], _other(steps, values))
    return value


def read_members(obj: Object, reads: Reads) -> Iterator[tuple[str, Object, Object]]:
    """Yield templates and members, each with a title: what a script reads has another value, or is absent on a side."""
    if not reads:
        return
    template, member = {field: value for field, value in obj.items() if field != "status"}, obj
    # Every entry of a map first, so that those that are read by their keys keep their values.
    for steps in sorted(reads, key=lambda steps: None not in steps):
        template = _changed(template, steps, lambda value: value)
        member = _changed(member, steps, _other(steps, reads[steps]))
    yield "with what the script reads", template, member
    for steps, values in reads.items():
        # Without entries of a list an object would be a broken one.
        if _is_name(steps) or not isinstance(steps[-1], str):
            continue
        path = ".".join("*" if step is None else str(step) for step in steps)
        yield f"without {path} in the template", _changed(template, steps, _constant(NOTHING)), member
        yield f"without {path} in the member", template, _changed(member, steps, _constant(NOTHING))
        here = get(obj, tuple(step for step in steps if step is not None))
        for value in [here] if isinstance(here, bool) else values[1:]:
            yield f"with {path} {value} in the member", template, _changed(member, steps, _constant(value))


def other_value(value: JSON, field: str = "") -> Any:  # noqa: ANN401 - JSON of the same shape
    """Return another value of the same type, in each field below as well."""
    match value:
        case dict():
            return {key: other_value(nested, key) for key, nested in value.items()}
        case list():
            return [other_value(element, field) if isinstance(element, dict | list) else element for element in value]
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str() if value and not field.lower().endswith(_IDENTITIES):
            # A quantity stays one.
            return f"1{value}" if value[0].isdigit() else f"{value}-{MEMBER}"
    return value


def _constant(value: JSON) -> _Change:
    return lambda _: value


def _is_name(steps: Steps) -> bool:
    """Return whether another value makes another object, or another entry of a list."""
    return steps[-1] in _NAMES and (None in steps or steps[0] != "spec")


def _other(steps: Steps, values: list[JSON]) -> _Change:
    """Return a function that gives another value: one that the script compares with, if there is one."""

    def other(value: Any) -> Any:  # noqa: ANN401 - JSON or NOTHING
        if value is NOTHING and not values:
            return {ADDED: MEMBER} if steps[-1] in _MAPS else MEMBER
        if value is not NOTHING and _is_name(steps):
            return value
        if values and not isinstance(value, bool):
            return values[0]
        if isinstance(value, list):
            return _with_entry(other_value(value), (), other)
        if isinstance(value, dict) and all(isinstance(text, str) for text in value.values()):
            return {**other_value(value), ADDED: MEMBER}
        return other_value(value)

    return other


def _changed(value: Any, steps: Steps, change: _Change) -> Any:  # noqa: ANN401 - JSON or NOTHING
    """Return a value with a change at a path. Maps on the way are made, and lists if the change makes an entry."""
    if not steps:
        return change(value)
    step, below = steps[0], steps[1:]
    if isinstance(step, str) and (value is NOTHING or isinstance(value, dict)):
        fields = {} if value is NOTHING else dict(value)
        absent = {} if step in _MAPS and below else NOTHING
        fields[step] = _changed(fields.get(step, absent), below, change)
        return {key: nested for key, nested in fields.items() if nested is not NOTHING}
    if step is None and value == {}:
        entry = _changed(NOTHING, below, change)
        return NOTHING if entry is NOTHING else {ADDED: entry}
    if step is None and isinstance(value, dict):
        return {key: _changed(nested, below, change) for key, nested in value.items()}
    entries = [] if value is NOTHING else value
    if isinstance(step, str) or not isinstance(entries, list):
        return value
    made = list[Any]()
    for number, entry in enumerate(entries):
        made.append(_changed(entry, below, change) if step in (None, number) else entry)
    return _with_entry([entry for entry in made if entry is not NOTHING], below, change)


def _with_entry(entries: list[Any], below: Steps, change: _Change) -> Any:  # noqa: ANN401 - JSON or NOTHING
    """Return a list with an entry more that has the change, or as it is if the change makes no value."""
    if change(NOTHING) is NOTHING:
        return entries or NOTHING
    made = _changed(NOTHING, below, change)
    like = entries[0] if entries else {}
    if not isinstance(like, dict):
        return [*entries, made]
    return [*entries, {**like, "name": MEMBER, **(made if isinstance(made, dict) else {})}]
