"""A virtual machine in the process of the tests, for what scripts compute: nothing here limits them."""

from collections.abc import Callable, Sequence

import orjson

from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.languages.lua.machine.kube import KUBE
from karta_interpreter.languages.lua.machine.runtime import Runtime, ScriptCall
from karta_interpreter.languages.lua.script import Own

_MACHINES: list[Runtime] = []


def call(
    text: str,
    arguments: Sequence[JSON] = (),
    own: Own | None = None,
    on_print: Callable[[str], None] | None = None,
    results: int = 9,
) -> ScriptCall:
    """A call of the function F of a script."""
    return ScriptCall(text, "F", list(map(orjson.dumps, arguments)), results, own or {}, on_print)


def function(body: str, *arguments: JSON, **own: Callable[..., tuple[JSON, ...]]) -> ScriptCall:
    """A call of a function with this body, whose parameter is o."""
    return call(f"function F(o, ...) {body} end", arguments, own)


def run(body: str, *arguments: JSON, **own: Callable[..., tuple[JSON, ...]]) -> list[JSON]:
    """The results of a function with this body, whose parameter is o, in a machine that others have used."""
    return run_call(function(body, *arguments, **own))


def run_call(asked: ScriptCall) -> list[JSON]:
    """The results of a call, in a machine that others have used."""
    if not _MACHINES:
        _MACHINES.append(Runtime(KUBE))
    return _MACHINES[0].run(asked)
