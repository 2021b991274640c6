"""Errors in a script that was compiled and not run, and what it reads and sets that nothing else does."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from operator import attrgetter
from typing import Final, NamedTuple
from zlib import crc32

from karta_interpreter.base.errors import LuaSyntaxError
from karta_interpreter.base.findings import closest, did_you_mean, listed
from karta_interpreter.base.karmada import CHANGED, OWN_FUNCTIONS, SLOTS, Operation
from karta_interpreter.languages.lua.machine.names import FunctionValue, Mention, Names
from karta_interpreter.languages.lua.machine.source import without_comments
from karta_interpreter.languages.lua.script_fields import fields_of

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

# A suggestion compares a name with all others, and a script of 256 KiB can have thousands of both.
_MOST_COMPARED: Final = 20
_MOST_SHOWN: Final = 50


BUNDLED: Final = (
    "16036954 1c8f9f85 3119df71 4297ffbd 44b65356 4f94c2b5 53bd3f7b 570efb13 6009b0fa 6779b8c4 69469f93 "
    "6ffd2a37 72003dab 8185bcb0 896d1794 909c5906 99ef0668 9b264684 abea23f2 adbf1342 c195b6d6 c45130e3 "
    "c620c4bf c85d3664 d2e97d33 d52218d7 da2133fb df8ba091 e806fe22 f1edb5e5 fa233210 "
)
"""The CRC-32 of the scripts with global variables that Karmada itself bundles, up to 1.18."""


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
_error: Final = partial(Lint, "error")


def lint(operation: str, text: str, names_of: Callable[[str], Names]) -> list[Lint]:
    """Return the findings in the script of an operation, in the order of its lines. ``names_of`` compiles it.

    They are the first 50, and of the others a fatal one, which decides whether the script can be run.
    """
    try:
        names = names_of(text)
    except LuaSyntaxError as err:
        return [_error("lua-syntax", str(err), "", err.line, fatal=True)]
    lints = [*_function(operation, names), *_unknown(names), *_rejected(names), *_kept(names)]
    if format(crc32(text.encode()), "08x") not in BUNDLED:
        lints[:0] = _assigned(names)
    lints += _outcomes(operation, names, without_comments(text))
    lints.sort(key=attrgetter("line"))
    fatal = [finding for finding in lints[_MOST_SHOWN:] if finding.fatal]
    return lints[:_MOST_SHOWN] + fatal[:1]


def _function(operation: str, names: Names) -> Iterator[Lint]:
    """Yield the finding about the function that an operation calls: it is missing, or takes other parameters."""
    name, parameters = SLOTS[operation].function, SLOTS[operation].parameters
    declaration = f"write function {name}({', '.join(parameters)})"
    of_name = [function for function in names.functions if function.name == name]
    # A function is global once the script has run, unless it is local or inside of another one.
    callable_ones = [function for function in of_name if not (function.is_local or function.is_nested)]
    if callable_ones:
        function = callable_ones[-1]
        if not function.is_variadic and function.parameters != len(parameters):
            message = f"{name} has {function.parameters} parameters, and is called with {len(parameters)} arguments"
            yield _warning("parameter-count", message, declaration, function.line, name)
    elif name not in {mention.name for mention in names.assigned}:
        yield _missing(name, declaration, of_name or names.functions)


def _missing(name: str, declaration: str, functions: Sequence[FunctionValue]) -> Lint:
    """Return the finding about a script without its function. Karmada finds that out when it runs the script."""
    missing = partial(Lint, "error", "missing-function", f"there is no function {name}", fatal=True)
    suggestion = closest(name, [function.name for function in functions])
    for function in functions:
        if function.name == name:
            return missing("it is local" if function.is_local else "it is inside of another one", function.line, name)
        if function.name == suggestion:
            return missing(f"rename {suggestion}", function.line, suggestion)
    return missing(declaration)


def _assigned(names: Names) -> Iterator[Lint]:
    """Yield the finding about the global variables that a script sets."""
    first = {mention.name: mention.line for mention in reversed(names.assigned)}
    if not first:
        return
    in_order = sorted(first, key=lambda name: first[name])
    message = "in Karmada a global variable stays for whatever script runs next"
    hiding = [name for name in in_order if name in GLOBALS]
    if hiding:
        message = f"{message}, and {listed(hiding)} of Lua is lost to it"
    name = (hiding or in_order)[0]
    yield _warning("global-variable", f"{listed(in_order)}: {message}", "write local", first[name], name)


def _unknown(names: Names) -> Iterator[Lint]:
    """Yield a finding for each global name that is read and that nothing sets, at its first place."""
    script_globals = names.own
    known = sorted(script_globals | names.locals | GLOBALS)
    unknown = dict[str, int]()
    for name, line in names.read:
        if not _is_known(name, names, script_globals):
            unknown.setdefault(name, line)
    for number, (name, line) in enumerate(unknown.items()):
        hint = _hint(name, known) if number < _MOST_COMPARED else ""
        yield _warning("unknown-global", f"{name} is nil: nothing sets it", hint, line, name)


def _is_known(name: str, names: Names, script_globals: set[str]) -> bool:
    """Return whether something sets a global, or a member of a module, as ``os.getenv``."""
    module, _, member = name.partition(".")
    # A member that is set on any table counts as known: no finding is better than a wrong one.
    if name in script_globals or name in GLOBALS or member in names.own_members:
        return True
    return bool(member) and (module in script_globals or module not in MODULES or member in MODULES[module])


def _hint(name: str, known: Sequence[str]) -> str:
    """Return the hint for an unknown global, or for a member that a module has not."""
    module, _, member = name.partition(".")
    if member:
        return did_you_mean(member, sorted(MODULES[module]))
    if module in MODULES:
        return f'write local {name} = require("{name}")'
    return did_you_mean(name, known, "")


def _rejected(names: Names) -> Iterator[Lint]:
    """Yield a finding for each call of a function that Karmada has forbidden, and for each unknown module."""
    script_globals = names.own
    called = dict.fromkeys([*names.read, *(Mention(f"string.{name}", line) for name, line in names.methods)])
    for name, line in called:
        if name in FORBIDDEN and name not in script_globals and name.partition(".")[2] not in names.own_members:
            message = f"Karmada does not allow {name}: it fails when it is called"
            yield _error("forbidden-function", message, "", line, name)
    for number, (name, line) in enumerate(names.required):
        if name not in MODULES and name != "_G":
            hint = did_you_mean(name, sorted(MODULES)) if number < _MOST_COMPARED else ""
            yield _error("unknown-module", f"there is no module {name}", hint, line, name)


def _kept(names: Names) -> Iterable[Lint]:
    """Yield a finding for each local that keeps its value in Karmada, and gets another one in Lua 5.2."""
    for name, line in names.kept:
        message = f"{name} keeps its value where the left side of `and` is false or nil, as in Karmada"
        hint = "write if ... then ... end, or assign to a new local"
        yield _warning("kept-value", message, hint, line, name)


_VALUE: Final = re.compile(r"""nil|true|false|\d[\d.]*|"[^"]*"|'[^']*'""")
# Fields of an object that are objects without a kind.
_PART: Final = re.compile(r".*\.(status|spec|metadata)")
_LOOP: Final = re.compile(r"\bfor\s+[\w, ]+\s+in\s+$")


def _outcomes(operation: str, names: Names, code: str) -> Iterator[Lint]:
    """Yield what fails for any object: a result that is none, or no object, and a loop that calls a table."""
    slot = SLOTS[operation]
    returned = [(result, line) for function, result, line in names.returned if function == slot.function]
    own = (function for function in names.functions if not (function.is_local or function.is_nested))
    declared = [function.line for function in own if function.name == slot.function]
    if declared and not any(result for result, _ in returned):
        message = f"{slot.function} returns nothing, which is an error in Karmada"
        yield _error("returns-nothing", message, "write return", declared[-1], slot.function)
    for result, line in returned:
        if result and slot.results[0] in CHANGED and (what := _no_object(slot.function, code, result)):
            message = f"{slot.function} returns {what}. Karmada fails: Object 'Kind' is missing"
            yield _error("returns-no-object", message, f"return the whole {slot.parameters[0]}", line, "return")
        required = re.search(r", (\w+)$", result) if operation == Operation.INTERPRET_REPLICA else None
        if required and "resourceRequest" not in (_made(code, required[1]) or {"resourceRequest"}):
            message = f"{required[1]} has no resourceRequest, so the pods count as requesting nothing"
            yield _warning("no-resource-request", message, "write resourceRequest = {…}", line, required[1])
    for field, _ in fields_of(slot.function, code):
        if _LOOP.search(code[: field.start()]) and code[field.end(2) :].split()[:1] == ["do"]:
            hint = f"write in ipairs({field[0]}) for a list, in pairs({field[0]}) for a map"
            line = 1 + code.count("\n", 0, field.start())
            yield _error("loop-calls-table", f"`in {field[0]} do` calls a table, which fails", hint, line, field[1])


def _no_object(function: str, code: str, result: str) -> str:
    """Return what a result is that has no kind, "" if it may have one."""
    name = result.replace(" ", "")
    if _VALUE.fullmatch(result):
        return result
    if result[0] == "{" and result[-1] == "}":
        return "" if "kind" in result else "a table without kind"
    of = {field[1] + field[2]: whole + field[2] for field, whole in fields_of(function, code)}
    if _PART.fullmatch(of.get(name, "")):
        return name
    fields = _made(code, name)
    return "" if fields is None or "kind" in fields else f"{name}, a table without kind"


def _made(code: str, name: str) -> set[str] | None:
    """Return the fields of a table that a script makes, or None if it may get others elsewhere."""
    made, set_fields = rf"(?:\blocal +|\n *){name} *= *\{{((?:[^{{}}]|\{{[^{{}}]*\}})*)\}}", rf"(?<![\w.]){name}\.(\w+)"
    rest = re.sub(rf"{made}|\breturn\b[^\n]*\b{name}\b|{set_fields}", "", code) if name.isidentifier() else name
    if re.search(rf"\b{name}\b", rest) or not (literals := re.findall(made, code)):
        return None
    return {*re.findall(r"(\w+) *=", " ".join(literals)), *re.findall(set_fields, code)}
