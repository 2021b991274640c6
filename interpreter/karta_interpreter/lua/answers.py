"""One operation, answered by its scripts in another process."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from orjson import Fragment

from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.lua.dependencies import united
from karta_interpreter.lua.machine.worker import Job
from karta_interpreter.lua.script import Script

Own: TypeAlias = Mapping[str, Callable[..., tuple[JSON, ...]]]
"""What ``require("karta")`` offers: functions from JSON arguments to JSON results."""


def jobs(
    scripts: Sequence[Script],
    *,
    object: Object | Fragment,  # noqa: A002 - the name that Karmada and its scripts have for it
    observed: Object | Fragment | None = None,
    replicas: int | None = None,
    items: Sequence[JSON] | None = None,
    own: Own | None = None,
    on_print: Callable[[str], None] | None = None,
) -> list[Job]:
    """What a process does for each script of one operation.

    A fragment is JSON text that is known to be valid. Retain needs ``observed`` and ReviseReplica ``replicas``;
    AggregateStatus takes ``items`` as Karmada writes them, None where an object has none yet: scripts then get nil.
    ``own`` is what ``require("karta")`` offers, ``on_print`` gets every line that a script prints.
    """
    own, arguments = own or {}, _arguments(scripts[0].operation, object, observed, replicas, items)
    return [
        Job(
            ["answer", script.text, script.operation, arguments, [*own], on_print is not None],
            f"{script.source}:{script.name}",
            own=own,
            on_print=on_print,
        )
        for script in scripts
    ]


def together(answers: Sequence[dict[str, JSON]]) -> dict[str, JSON]:
    """The answer of the scripts of one operation by the answers of each; only InterpretDependency has several.

    >>> together([{"dependencies": [{"kind": "Secret", "name": "a"}, {"kind": "Secret", "name": "a"}]}])
    {'dependencies': [{'kind': 'Secret', 'name': 'a'}]}
    """
    if "dependencies" in answers[0]:
        return {"dependencies": united(each["dependencies"] for each in answers)}
    return answers[0]


def _arguments(
    operation: str, object_: JSON, observed: JSON, replicas: int | None, items: Sequence[JSON] | None
) -> tuple[JSON, ...]:
    if operation == "Retain":
        return object_, observed
    if operation == "ReviseReplica":
        return object_, replicas
    return (object_, items) if operation == "AggregateStatus" else (object_,)
