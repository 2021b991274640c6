"""What is wrong, or looks wrong, in a script."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from karta_interpreter.errors import LuaSyntaxError
from karta_interpreter.findings import Severity
from karta_interpreter.lua.grammar import Mention, Survey, parse, survey
from karta_interpreter.lua.grammar.environment import GLOBALS, MODULES
from karta_interpreter.lua.script import SLOTS
from karta_interpreter.suggestion import closest

_MOST_SHOWN: Final = 50
_PARAMETERS = {
    "InterpretReplica": ("desiredObj",),
    "InterpretComponent": ("desiredObj",),
    "ReviseReplica": ("desiredObj", "desiredReplica"),
    "Retain": ("desiredObj", "observedObj"),
    "AggregateStatus": ("desiredObj", "statusItems"),
    "InterpretStatus": ("observedObj",),
    "InterpretHealth": ("observedObj",),
    "InterpretDependency": ("desiredObj",),
}
"""What a function is called with, by the names in the comments of Karmada's API."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """One thing to look at in a script.

    ``line`` counts from 1 in the script, 0 for the script as a whole, and ``word`` is what is meant on it. A script
    with something ``fatal`` cannot be run at all.
    """

    severity: Severity
    rule: str
    message: str
    hint: str = ""
    line: int = 0
    word: str = ""
    fatal: bool = False


def judge(operation: str, text: str) -> list[Judgement]:
    """Everything that is to be said about the script of an operation, in the order of its lines.

    >>> [judgement.rule for judgement in judge("InterpretHealth", "function InterpretHealth(obj) return ready end")]
    ['unknown-global']
    """
    try:
        found = survey(parse(text))
    except LuaSyntaxError as err:
        return [Judgement(Severity.ERROR, "lua-syntax", str(err), line=err.line, fatal=True)]
    judgements = [*_function(operation, found), *_globals(found), *_refused(found)]
    return _shortened(sorted(judgements, key=lambda judgement: judgement.line))


def _shortened(judgements: list[Judgement]) -> list[Judgement]:
    """The first of many, and the first fatal one of the others: whether there is one decides about the script."""
    shown, rest = judgements[:_MOST_SHOWN], judgements[_MOST_SHOWN:]
    if not rest:
        return shown
    fatal = [judgement for judgement in rest if judgement.fatal][:1]
    message = f"there are {len(rest) - len(fatal)} more findings like these"
    return [*shown, *fatal, _warning("more-findings", message, "", rest[0].line, "")]


def _function(operation: str, found: Survey) -> Iterator[Judgement]:
    name, parameters = SLOTS[operation].function, _PARAMETERS[operation]
    function = found.function(name)
    if function and not function.variadic and len(function.parameters) != len(parameters):
        message = f"{name} has {len(function.parameters)} parameters, and is called with {len(parameters)} arguments"
        yield _warning("parameter-count", message, _write(name, parameters), function.line, name)
    elif function is None and name not in {mention.name for mention in found.assigned}:
        yield _missing(name, parameters, found)


def _missing(name: str, parameters: Sequence[str], found: Survey) -> Judgement:
    """What to say of a script without its function, which is what Karmada finds out when it runs it."""
    error = partial(Judgement, Severity.ERROR, "missing-function", f"there is no function {name}", fatal=True)
    for other in found.functions:
        if other.name == name:
            hint = "it is local; remove `local`" if other.local else f"it is there only when {other.inside} has run"
            return error(hint, other.line, name)
    meant = closest(name, [other.name for other in found.functions if not other.local])
    for other in found.functions:
        if other.name == meant:
            return error(f"rename {meant}", other.line, meant)
    return error(_write(name, parameters))


def _write(name: str, parameters: Sequence[str]) -> str:
    return f"write function {name}({', '.join(parameters)})"


def _globals(found: Survey) -> Iterator[Judgement]:
    for mention in _first_of_each(found.assigned):
        message = f"{mention.name} is global: in Karmada it stays for whatever script runs next"
        if mention.name in GLOBALS:
            message = f"{mention.name} hides Lua's own, in Karmada for whatever script runs next, too"
        yield _warning("global-variable", message, f"write local {mention.name}", mention.line, mention.name)
    for mention in _first_of_each(found.unknown):
        hint = f"did you mean {mention.meant}?" if mention.meant else ""
        message = f"{mention.name} is nil: nothing sets it"
        yield _warning("unknown-global", message, hint, mention.line, mention.name)


def _refused(found: Survey) -> Iterator[Judgement]:
    for mention in found.forbidden:
        message = f"Karmada does not allow {mention.name}: it fails when it is called"
        yield Judgement(Severity.ERROR, "forbidden-function", message, "", mention.line, mention.name)
    for mention in found.missing:
        hint = f"did you mean {mention.meant}?" if mention.meant else f"there are: {', '.join(MODULES)}"
        yield Judgement(
            Severity.ERROR, "unknown-module", f"there is no module {mention.name}", hint, mention.line, mention.name
        )
    for mention in found.gotos:
        message = f"`{mention.name}` is not supported"
        yield Judgement(Severity.ERROR, "lua-goto", message, "", mention.line, mention.name, fatal=True)


def _first_of_each(mentions: Iterable[Mention]) -> Iterable[Mention]:
    found: dict[str, Mention] = {}
    for mention in mentions:
        found.setdefault(mention.name, mention)
    return found.values()


def _warning(rule: str, message: str, hint: str, line: int, word: str) -> Judgement:
    return Judgement(Severity.WARNING, rule, message, hint, line, word)
