"""Errors and likely errors in a script that was compiled and not run."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from operator import attrgetter
from typing import Final, NamedTuple

from karta_interpreter.base.errors import LuaSyntaxError
from karta_interpreter.base.findings import closest, did_you_mean
from karta_interpreter.base.karmada import OWN_FUNCTIONS, SLOTS, ScriptField
from karta_interpreter.languages.lua.machine.misread import FLAGS, IN_LINE, MISREAD, WORDS
from karta_interpreter.languages.lua.machine.names import METHODS, FunctionValue, Mention, Names
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
# A text with the `+` before or behind it, if any. The third group is a text that is a number.
_TEXT_SUM: Final = re.compile(r"""(\+\s*)?(["'])(?:([\d.\s]+)|(?:\\.|(?!\2).)*)\2(\s*\+)?""")
_QUANTITY: Final = re.compile(r"""["']\d+(?:\.\d+)?(?:m|[KMGTPE]i?)["']""")
# A literal that is returned, by its noun.
_RETURNED: Final = re.compile(
    r"""\breturn +(?:[^\n;(,]{0,200}\bor +)?"""
    r"""(?:(?P<text>"[^"\n]*"|'[^'\n]*')|(?P<number>\d+)|(?P<boolean>true|false)"""
    r"|(?P<nil>nil)|(?P<table>\{(?:[^{}\n]|\{[^{}\n]*\})*\})) *(?=,|;|\bend\b|$)"
    r"|\breturn\b(?P<nothing>)(?=\s*(?:;|(?:end|else|elseif|until)\b))",
    re.MULTILINE,
)
# The function that answers, up to the next one that begins a line. The group is its name.
_ANSWERING: Final = r"^(?:function +(?=NAME\b)|(?=NAME *= *function\b))(?:(?!^(?:local +)?function\b).)*"
# A part of a pod template where the whole belongs, as an argument of a function of Karmada.
_SPEC_GIVEN: Final = re.compile(r"\bkube\.(accuratePodRequirements|getPodDependencies)\( *([\w.]+)\.spec *[,)]")
# The end of a function whose last statement is a loop, an `if` without `else`, or an `else` without a result.
_FALLS_THROUGH: Final = re.compile(
    r"\A(?!.*\b(?:else|while|repeat|goto|error)\b).*\bend\s+end\s*\Z"
    r"|^( {1,16})(?:if|elseif|for)\b[^\n]*\n(?:(?:\1 [^\n]*| *)\n)*+\1end\s+end\s*\Z"
    r"|^( {1,16})else *\n(?:(?:\2 (?![^\n]*\b(?:return|error|goto)\b)[^\n]*| *)\n)*+\2end\s+end\s*\Z",
    FLAGS,
)
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
    code = _COMMENT.sub("", text)
    try:
        names = names_of(text)
    except LuaSyntaxError as err:
        return [_syntax_error(err, code)]
    lints = [
        *_function(operation, names),
        *_globals(SLOTS[operation], names),
        *_rejected(names),
        *_misread(names),
        *_matched(code),
    ]
    answering = re.search(_ANSWERING.replace("NAME", SLOTS[operation].function), code, FLAGS)
    # A function inside of it may return anything.
    if answering and answering[0].count("function") == 1 and not any(found.fatal for found in lints):
        lints += _wrong_returns(operation, answering[0].rstrip(), 1 + code.count("\n", 0, answering.start()))
    return _shortened(sorted(lints, key=attrgetter("line")))


def _syntax_error(err: LuaSyntaxError, code: str) -> Lint:
    line = code.split("\n")[err.line - 1][:500]
    hint = (
        next((hint for pattern, hint in IN_LINE.items() if pattern.search(line)), "")
        or _OPERATORS.get(str(err).partition("near '")[2][:1])
        or next((hint for pattern, hint in WORDS.items() if re.search(pattern, f"{code}\n{err}")), "")
    )
    return Lint("error", "lua-syntax", str(err), hint, err.line, fatal=True)


# What the names show: kept values, functions that nothing has, lists from 0.
def _misread(names: Names) -> Iterable[Lint]:
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
            _warning("script-misread", f"this hardly does what is meant: {what}", hint, line, word)
            for (word, line), what, hint in names.misread
            if word not in names.own_members
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
        *(
            _warning("index-zero", f"{name}[0] is nil: lists of Lua begin with 1", f"write {name}[1]", line, name)
            for name, line in (() if "0" in names.own_members else names.zeros)
        ),
    )


# What patterns find in the text without its comments.
def _matched(code: str) -> Iterable[Lint]:
    return (
        *(
            _warning(
                "text-sum",
                "`+` adds numbers, and this text is none",
                "add quantities by `kube.resourceAdd(a, b)`"
                if _QUANTITY.search(match[0])
                else "texts are joined by `..`",
                line,
                match[0],
            )
            for match, line in ((match, code.count("\n", 0, match.start()) + 1) for match in _TEXT_SUM.finditer(code))
            if (match[1] or match[4]) and not match[3]
        ),
        *(
            _warning(
                "spec-for-template",
                f"kube.{match[1]} takes a pod template, and {match[2]}.spec is what a template has in spec",
                f"write {match[2]}, or {{spec = {match[2]}.spec}} around a pod spec",
                code.count("\n", 0, match.start()) + 1,
                match[1],
            )
            for match in _SPEC_GIVEN.finditer(code)
        ),
        *(
            _warning(
                "script-misread",
                f"this hardly does what is meant: {what}",
                hint,
                code.count("\n", 0, match.start(match.lastindex or 0)) + 1,
                match[match.lastindex or 0],
            )
            for pattern, (what, hint) in MISREAD.items()
            for match in pattern.finditer(code)
        ),
    )


def _wrong_returns(operation: str, code: str, first_line: int) -> Iterator[Lint]:
    expected = {"InterpretHealth": "boolean", "InterpretReplica": "number"}.get(operation, "table")
    if operation != "InterpretComponent" and (not re.search(r"\breturn\b", code) or _FALLS_THROUGH.search(code)):
        yield _warning(
            "no-return",
            f"{SLOTS[operation].function} may end without a return, so Karmada gets no answer",
            "write return VALUE before this `end`",
            code.count("\n", 0, code.rindex("end")) + first_line,
            "end",
        )
    for match in _RETURNED.finditer(code):
        is_entry = operation in ("InterpretDependency", "InterpretComponent") and re.match(
            r"\{\s*\w+\s*=", match["table"] or ""
        )
        # A whole without components is nil.
        if is_entry or match.lastgroup not in (
            (expected, "nil", "nothing") if operation == "InterpretComponent" else (expected,)
        ):
            is_nil = match.lastgroup in ("nil", "nothing")
            what = "one entry without the outer { }" if is_entry else f"{'' if is_nil else 'a '}{match.lastgroup}"
            yield _warning(
                "wrong-return",
                f"{must_return(operation)}, and this is {what}",
                "",
                code.count("\n", 0, match.start()) + first_line,
                "return",
            )


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
