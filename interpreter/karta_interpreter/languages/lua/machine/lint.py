"""Errors and likely errors in a script that was compiled and not run."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from operator import attrgetter
from typing import Final, NamedTuple

from karta_interpreter.base.errors import LuaSyntaxError
from karta_interpreter.base.findings import closest, did_you_mean
from karta_interpreter.base.karmada import OWN_FUNCTIONS, SLOTS, ScriptField
from karta_interpreter.languages.lua.machine.misread import IN_LINE, WORDS, misread
from karta_interpreter.languages.lua.machine.names import METHODS, FunctionValue, Mention, Names
from karta_interpreter.languages.lua.machine.syntax import Node, nodes_of
from karta_interpreter.languages.lua.results import must_return

FORBIDDEN: Final = frozenset(
    (
        *("collectgarbage", "dofile", "getfenv", "getmetatable", "load", "loadfile", "loadstring", "module"),
        *("newproxy", "rawequal", "rawget", "rawset", "setfenv", "setmetatable"),
        *("string.dump", "string.gsub", "string.rep", "package.loadlib"),
    )
)
"""Functions that are there and only raise an error, as Karmada's ``luavm/lua.go`` and ``lifted/lua`` have it."""

_MEMBERS: Final = {
    "math": "abs acos asin atan atan2 ceil cos cosh deg exp floor fmod frexp huge ldexp log log10 max min mod modf pi"
    " pow rad random randomseed sin sinh sqrt tan tanh",
    "os": "date time",
    "package": "loaded loaders loadlib preload",
    "string": "byte char dump find format gfind gmatch gsub len lower match rep reverse sub upper",
    "table": "concat getn insert maxn remove sort",
    "karta": " ".join(OWN_FUNCTIONS),
    "kube": "accuratePodRequirements getPodDependencies getResourceQuantity resourceAdd",
}
MODULES: Final = {name: frozenset(members.split()) for name, members in _MEMBERS.items()}
"""The modules that ``require`` finds, and their members.

``karta`` is this project's, the others exist in Karmada too.
"""

_LIBRARIES: Final = MODULES.keys() - {"karta", "kube"}
GLOBALS: Final = frozenset(
    (
        *("_G", "_VERSION", "assert", "error", "ipairs", "next", "pairs", "pcall", "print", "require", "select"),
        *("tonumber", "tostring", "type", "unpack", "xpcall"),
        *_LIBRARIES,
        *(name for name in FORBIDDEN if "." not in name),
    )
)
"""Every global name. ``io``, ``debug`` and ``coroutine`` do not exist."""

_PARAMETERS: Final = frozenset(
    (
        *("obj", "object", "desired", "observed", "items", "replicas", "replica", "runtimeObj"),
        *(name for slot in SLOTS.values() for name in slot.parameters),
    )
)
_FOREIGN: Final = {
    **dict.fromkeys(("null", "NULL", "None", "none", "undefined"), "nil"),
    "True": "true",
    "False": "false",
}
# How Lua writes what other languages write by an operator, by the character that is no Lua.
_OPERATORS: Final = {
    "!": "other than is written `~=`, and the opposite `not`",
    ">": "other than is written `~=`, and at least `>=`",
    "&": "both of two is written `and`",
    "|": "either of two is written `or`",
    "+": "a sum is assigned as `x = x + 1`",
    "-": "a difference is assigned as `x = x - 1`",
    "=": "equal to is written `==`",
    "?": "a choice is written `condition and value or other`, a default `value or other`",
    "/": "a comment begins with `--`, and a whole quotient is `math.floor(a / b)`",
    "[": "a list is written `{...}`",
    "#": "a comment begins with `--`, and `#list` is the length of a list",
    ":": "a key is written `{key = value}`, and a variable has no type",
    "{": "a block begins with `then` or `do`, that of a function with nothing, and each ends with `end`",
    ".": "a field is read by `.`, and `:` calls a function",
}
_COMMENT: Final = re.compile("--.*")
_LITERALS: Final = frozenset(("text", "number", "boolean", "nil", "table"))
# A suggestion compares a name with all others, and a script of 256 KiB can have thousands of both.
_MOST_SHOWN: Final = 50
_MOST_GUESSES: Final = 20


class Lint(NamedTuple):
    """One thing to look at in a script.

    ``severity`` is "error" or "warning". ``line`` counts from 1 in the script, and 0 is the script as a whole. ``word``
    is the word on that line that the finding is about. ``fatal`` if the script cannot be run at all.
    """

    severity: str
    rule: str
    message: str
    hint: str = ""
    line: int = 0
    word: str = ""
    fatal: bool = False


_warning: Final = partial(Lint, "warning")


def lint(operation: str, text: str, names_of: Callable[[str], Names]) -> list[Lint]:
    """Return all findings in the script of an operation, in the order of its lines. ``names_of`` compiles it."""
    try:
        names = names_of(text)
    except LuaSyntaxError as err:
        return [_syntax_error(err, _COMMENT.sub("", text))]
    nodes = nodes_of(text)
    lints = [
        *_function(operation, names),
        *_globals(SLOTS[operation], names),
        *_rejected(names),
        *_habits(names),
        *(_warning(*found) for found in misread(nodes)),
    ]
    if not any(found.fatal for found in lints):
        lints += _wrong_returns(operation, nodes)
    return _shortened(sorted(lints, key=attrgetter("line")))


def _syntax_error(err: LuaSyntaxError, code: str) -> Lint:
    line = code.split("\n")[err.line - 1][:500]
    hint = (
        next((hint for pattern, hint in IN_LINE.items() if pattern.search(line)), "")
        or _OPERATORS.get(str(err).partition("near '")[2][:1])
        or next((hint for pattern, hint in WORDS.items() if re.search(pattern, f"{code}\n{err}")), "")
    )
    return Lint("error", "lua-syntax", str(err), hint, err.line, fatal=True)


def _habits(names: Names) -> Iterable[Lint]:
    """Return the findings about names: kept values, and functions that nothing has."""
    return (
        *(
            _warning(
                "kept-value",
                f"{name} keeps its value where the left side of `and` is false or nil, as in Karmada",
                "write if ... then ... end, or assign to a new local",
                line,
                name,
            )
            for name, line in names.kept
        ),
        *(
            _warning(
                "script-misread",
                f"nothing has a function {sign}{name}",
                METHODS.get(
                    name, "a field is read by `.`; a text has the functions of string, and only `:` calls them"
                ),
                line,
                name,
            )
            for sign, (name, line), holder in (
                *((":", mention, ":") for mention in names.methods),
                *((".", *called) for called in names.called),
            )
            if name not in names.own_members
            # A table that a function gets may have functions in its fields.
            and (not holder or (name in METHODS if sign == "." else name not in frozenset().union(*MODULES.values())))
        ),
        *(
            _warning(
                "script-misread",
                f"{module}.{name} is called by a dot: `:` passes what is before it as the first argument",
                f"write {module}.{name}(…)",
                line,
                name,
            )
            for name, line in names.methods
            for module, members in MODULES.items()
            if name in members - names.own_members and module != "string"
        ),
    )


def _wrong_returns(operation: str, nodes: Sequence[Node]) -> Iterator[Lint]:
    """Yield the ends of the function of an operation that give something else than Karmada takes."""
    named = SLOTS[operation].function
    functions = [node for node in nodes if node.kind == "function" and node.parts[0].word == named]
    if not functions:
        return
    body = functions[-1].parts[-1]
    if operation != "InterpretComponent" and not _always_returns(body):
        message = f"{named} may end without a return, so Karmada gets no answer"
        line = functions[-1].line + functions[-1].text.count("\n", functions[-1].start, functions[-1].end)
        yield _warning("no-return", message, "write return VALUE before this `end`", line, "end")
    for node in nodes:
        if node.kind == "return" and node.function is body.function and (what := _unexpected(operation, node)):
            yield _warning("wrong-return", f"{must_return(operation)}, and this is {what}", "", node.line, "return")


def _unexpected(operation: str, returned: Node) -> str:
    """Name a literal that is returned, or return "" if it may be the answer of an operation."""
    if not returned.parts:
        # A whole without components is nil.
        return "" if operation == "InterpretComponent" else "nothing"
    value = returned.parts[0]
    while value.kind == "binary" and value.word == "or":
        value = value.parts[1]
    kind = value.kind
    if kind == "constant":
        kind = "nil" if value.word == "nil" else "boolean"
    if kind == "table" and operation in ("InterpretDependency", "InterpretComponent") and _is_entry(value):
        return "one entry without the outer { }"
    expected = {
        "InterpretHealth": ("boolean",),
        "InterpretReplica": ("number",),
        "InterpretComponent": ("table", "nil"),
    }
    if kind not in _LITERALS or kind in expected.get(operation, ("table",)):
        return ""
    return kind if kind == "nil" else f"a {kind}"


def _is_entry(table: Node) -> bool:
    first = table.parts[0].parts if table.parts else ()
    return bool(first[1:]) and first[0].kind == "text"


def _always_returns(block: Node) -> bool:
    """Return whether a block ends by a return, an error, or a loop that may have no end."""
    if not block.parts:
        return False
    last = block.parts[-1]
    if last.kind == "if":
        has_else = last.parts[-1].kind == "block"
        return has_else and all(
            _always_returns(part.parts[-1] if part.kind == "clause" else part) for part in last.parts
        )
    if last.kind == "do":
        return _always_returns(last.parts[0])
    return last.kind in ("return", "while", "repeat", "goto") or (last.kind == "call" and last.parts[0].word == "error")


def _shortened(lints: list[Lint]) -> list[Lint]:
    """Return the first of many, and the first fatal one of the others. It decides whether the script can be run."""
    shown, hidden = lints[:_MOST_SHOWN], lints[_MOST_SHOWN:]
    if not hidden:
        return shown
    fatal = [finding for finding in hidden if finding.fatal][:1]
    message = f"there are {len(hidden) - len(fatal)} more findings like these"
    return [*shown, *fatal, _warning("more-findings", message, "", hidden[0].line, "")]


def _function(operation: str, names: Names) -> Iterator[Lint]:
    name, parameters = SLOTS[operation].function, SLOTS[operation].parameters
    # A function is global once the script has run, unless it is local or inside of another one.
    function = next(
        (
            candidate
            for candidate in reversed(names.functions)
            if candidate.name == name and not (candidate.is_local or candidate.is_nested)
        ),
        None,
    )
    if function and not function.is_variadic and function.parameters != len(parameters):
        message = f"{name} has {function.parameters} parameters, and is called with {len(parameters)} arguments"
        yield _warning("parameter-count", message, _write(name, parameters), function.line, name)
    elif function is None and name not in {mention.name for mention in names.assigned}:
        yield _missing(name, parameters, names.functions)


def _missing(name: str, parameters: Sequence[str], functions: Sequence[FunctionValue]) -> Lint:
    """Return the finding about a script without its function. Karmada finds that out when it runs the script."""
    error = partial(Lint, "error", "missing-function", f"there is no function {name}", fatal=True)
    for other in functions:
        if other.name == name:
            hint = "it is local; remove `local`" if other.is_local else "it is defined inside of another function"
            return error(hint, other.line, name)
    fields = {slot.function: slot.field for slot in SLOTS.values()}
    suggestion = closest(name, [other.name for other in functions if not (other.is_local or other.name in fields)])
    for other in functions:
        if other.name == suggestion:
            return error(f"rename {suggestion}", other.line, suggestion)
    misplaced = (f"{other.name} belongs below {fields[other.name]}" for other in functions if other.name in fields)
    return error("; ".join((_write(name, parameters), *misplaced)))


def _write(name: str, parameters: Sequence[str]) -> str:
    return f"write function {name}({', '.join(parameters)})"


def _globals(slot: ScriptField, names: Names) -> Iterator[Lint]:
    yield from (
        _warning(
            "global-variable",
            f"{name} hides Lua's own, in Karmada for whatever script runs next, too"
            if name in GLOBALS
            else f"{name} is global: in Karmada it stays for whatever script runs next",
            f"write local {name}",
            line,
            name,
        )
        for name, line in _first_of_each(names.assigned)
    )
    script_globals = names.own
    holders = {mention.name.partition(".")[0] for mention in names.read if "." in mention.name}
    unknown = _first_of_each(reading for reading in names.read if not _is_known(reading.name, names, script_globals))
    for number, (name, line) in enumerate(unknown):
        suggestion = _guess(name, script_globals | names.locals) if number < _MOST_GUESSES else ""
        module, _, member = name.rpartition(".")
        library = next((other for other, members in MODULES.items() if member in members and not module), "")
        elsewhere = "" if library in _LIBRARIES else f', behind local {library} = require("{library}")'
        hints = {
            f'write local {name} = require("{name}")': name in MODULES,
            "it is local to another function or block, or set below: set it above, or pass it as a parameter": name
            in names.locals,
            f"the function gets what its parameters name: {_write(slot.function, slot.parameters)}": (
                name in _PARAMETERS and suggestion not in names.locals
            ),
            METHODS.get(member, ""): member in METHODS,
            f"write {library}.{member}{elsewhere}": library,
            f'a text stands in quotes: "{name}"': name[0].isupper() and suggestion not in names.locals | script_globals,
            f"did you mean {suggestion}?": suggestion,
            "the libraries are math, os, string and table": name in holders,
            f"a script may call: {', '.join(sorted(MODULES.get(module, ())))}": module,
            'set it by `local`; a key with another sign than _ is written `["a-b"]`': True,
        }
        hint = next(hint for hint, holds in hints.items() if holds)
        yield _warning("unknown-global", f"{name} is nil: nothing sets it", hint, line, name)


def _is_known(name: str, names: Names, script_globals: set[str]) -> bool:
    """Return whether something sets a global, or a member of a module, as ``os.getenv``."""
    module, _, member = name.partition(".")
    # A member that is set on any table counts as known: no finding is better than a wrong one.
    return (name in script_globals or name in GLOBALS or member in names.own_members) or (
        bool(member) and (module in script_globals or module not in MODULES or member in MODULES[module])
    )


def _guess(name: str, names: set[str]) -> str:
    module, _, member = name.partition(".")
    suggestion = closest(member, MODULES[module]) if member else ""
    alone = "" if member else _FOREIGN.get(module) or closest(module, names | GLOBALS)
    return f"{module}.{suggestion}" if suggestion else alone


def _rejected(names: Names) -> Iterator[Lint]:
    script_globals = names.own
    called = [*names.read, *(Mention(f"string.{name}", line) for name, line in names.methods)]
    yield from (
        Lint(
            "error", "forbidden-function", f"Karmada does not allow {name}: it fails when it is called", "", line, name
        )
        for name, line in sorted(dict.fromkeys(called), key=lambda mention: mention.line)
        if name in FORBIDDEN and name not in script_globals and name.partition(".")[2] not in names.own_members
    )
    yield from (
        Lint("error", "unknown-module", f"there is no module {name}", did_you_mean(name, MODULES), line, name)
        for name, line in names.required
        if name not in MODULES and name != "_G"
    )


def _first_of_each(mentions: Iterable[Mention]) -> Iterable[Mention]:
    # From the end, so that the first of each stays.
    return reversed({mention.name: mention for mention in reversed([*mentions])}.values())
