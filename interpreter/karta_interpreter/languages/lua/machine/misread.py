"""Code that Lua reads otherwise than it looks, and words of other languages, each with advice."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from karta_interpreter.base.karmada import SLOTS
from karta_interpreter.languages.lua.machine.patterns import Found, Pattern, Search
from karta_interpreter.languages.lua.machine.syntax import Node, pattern_of

# What stands for several operators in a pattern, and these.
_SPELLINGS: Final = {" =~ ": (" == ", " ~= "), " <> ": (" < ", " > ", " <= ", " >= ")}
_PLACEHOLDER: Final = re.compile(r"\$([a-z]\w*)")


class _Entry(NamedTuple):
    pattern: Pattern
    rule: str
    message: str
    hint: str
    show: str


def misread(nodes: Sequence[Node]) -> Iterator[tuple[str, str, str, int, str]]:
    """Yield rule, message, hint, line and code of each place in a script that ``misread.yaml`` has a pattern for.

    >>> from karta_interpreter.languages.lua.machine.syntax import nodes_of
    >>> [hint for _, _, hint, _, _ in misread(nodes_of("return a.status == true"))]
    ['write "True" or "False"']
    """
    search = Search(nodes)
    for entry in _entries():
        for node, found in search.matches(entry.pattern):
            message, hint = (_filled(text, found) for text in (entry.message, entry.hint))
            shown = found.get(entry.show, node)
            yield entry.rule, message, hint, shown.line, shown.first_line


def _filled(text: str, found: Found) -> str:
    """Return a text with the code that its placeholders stand for."""
    return _PLACEHOLDER.sub(lambda name: found[name[1]].first_line if name[1] in found else "", text)


@cache
def _entries() -> Sequence[_Entry]:
    import yaml  # noqa: PLC0415 - a process that only runs scripts does not need it

    text = Path(__file__).with_name("misread.yaml").read_text(encoding="utf-8")
    return [_entry(read) for read in yaml.safe_load(text)]


def _entry(read: dict[str, Any]) -> _Entry:
    functions = _listed(read.get("in"))
    pattern = Pattern(
        code=_patterns(read["code"]),
        around=[_patterns(other) for other in _listed(read.get("around"))],
        without=_patterns(read.get("without")),
        functions={slot.function: slot.parameters for slot in SLOTS.values() if slot.function in functions},
        where={name: re.compile(where) for name, where in read.get("where", {}).items()},
        unread=read.get("unread", ""),
        unpassed=read.get("unpassed", ""),
    )
    rule, message = read.get("rule", "script-misread"), read["what"]
    if rule == "script-misread":
        message = f"this hardly does what is meant: {message}"
    return _Entry(pattern, rule, message, read["hint"], read.get("show", ""))


def _patterns(code: str | list[str] | None) -> Sequence[Node]:
    spelled = _listed(code)
    for operator, spellings in _SPELLINGS.items():
        spelled = list(dict.fromkeys(text.replace(operator, spelling) for text in spelled for spelling in spellings))
    return [pattern_of(text) for text in spelled]


def _listed(value: str | list[str] | None) -> list[str]:
    if isinstance(value, list):
        return value
    return [value] if value else []


IN_LINE: Final = {
    re.compile(r"^\s*[\w./:-]+\.lua\s*$"): "write the script itself, not the name of its file",
    re.compile(r"^\s*[\w.]+ *[=~]= "): "a field is set by one `=`, and a comparison is written behind `return` or `if`",
    re.compile(r"\{\{[-$. \w]"): "this is a template of Helm or Go: render it first, as by `helm template`",
    re.compile(r"^\s*return +[\w.]+ *=(?!=)"): (
        "equal to is written `==`, and a field is set on a line of its own, before `return`"
    ),
    re.compile(r"""[{,] *["'][^"'\n]*["'] *="""): "a key is written without quotes: {key = value}",
    re.compile(r"\[\] *\||\| *(?:length|select|any|all|map|first|last|keys)\b|\breturn +\.\w"): (
        "this is jq: a field is read from the object, as observedObj.status.phase, and #list is a length"
    ),
    re.compile(r"<(?:const|close)>"): "leave it out: this is of a later Lua",
    re.compile(r"/\*"): "a comment begins with `--`, and one of several lines is --[[ ... ]]",
    re.compile(r"\*\*"): "a power is written x ^ y",
    re.compile(r"\?\."): "write `object.field and object.field.name`, or `(object.field or {}).name`",
    re.compile("`"): "a text stands in straight quotes, and no ``` around a script",
    re.compile(r"^(?!.*\bfor(?:each)?\b).*\w in\b"): (
        'one of several is written `x == "A" or x == "B"`, and a field that is there `object.field ~= nil`'
    ),
    re.compile(r"\.\w+-\w+(?: *=|$)"): 'a key with another sign than _ is written in brackets: `labels["app-name"]`',
    re.compile(r"\bfunction\b[^()]*\([^()]*\) *\{"): "a function is written `function NAME(x) ... end`, without { }",
    re.compile(r"\$\{?\w"): "a variable is written without $, and in a text joined by `..`",
    re.compile(r"\?"): "a choice is written `condition and value or other`, a default `value or other`",
    re.compile(r"\\$"): "remove the \\: a line needs no sign to go on",
    re.compile(
        r"\b(?:for|while) *\(|\bfor\b[^\n;]{0,200};"
    ): "a loop is written `for i = 1, n do ... end`, or `while x do ... end`",
    re.compile(r"\w(?:\+\+|--)"): "one more is written `x = x + 1`",
    re.compile(r"\bif\b.{0,200}?[^=~<>!]=[^=]"): "equal to is written `==`",
    re.compile(r"\b(?:async|await|new|class|import|from|export|public|void|int|bool|string|func|fn|lambda)\b"): (
        "Lua has no such word: a function is `function NAME(x) ... end`, a variable `local x = 1`"
    ),
    re.compile(r"\braise\b|\bthrow\b|\bassert [^(]"): 'an error is raised by `error("text")`',
    re.compile("=>"): "a function is written `function(x) return x.field end`",
    re.compile(":="): "a value is assigned by `=`",
    re.compile("[\u201c\u201d\u2018\u2019]"): 'a text stands in straight quotes: "..."',
    re.compile(r":(?= *[\d\"'{])|(?<=\w):(?= )"): "a key is written `{key = value}`, and a variable has no type",
    re.compile(
        r"\) ?{"
    ): "a block begins with `then` or `do`, that of a function with nothing, and each ends with `end`",
    re.compile(r"\bdef\b"): "a function is written `function NAME(x) ... end`",
    re.compile(r"\bforeach\b"): "a loop is written `for _, entry in ipairs(list) do ... end`",
    re.compile(r"\belif\b"): "write `elseif`",
    re.compile(r"\bReturn\b"): "write `return`",
    re.compile(r"\bis\b"): "equal to is written `==`, and other than `~=`",
    re.compile(r"\bswitch\b"): "a choice is written `if ... then ... elseif ... then ... else ... end`",
    re.compile(r"\b(?:var|let|const)\b"): "a variable is declared by `local`",
    re.compile(r"^\s*(?:else)?if\b(?!.*\bthen\b)"): "write `then` behind the condition",
}
"""Parts of a line with an error, with the advice."""

WORDS: Final = {
    "else if": "`else if` begins another `if` with an `end` of its own; write `elseif`",
    r"\btry\b": "an error is caught by `local ok, result = pcall(function() ... end)`",
    "continue": "there is no `continue`; write `goto next`, and `::next::` at the end of the loop",
    r"\breturn\b[^;\n]*; *(?!end\b)\w": "nothing may follow `return` but `end`",
    "'}' expected": "entries have commas between them",
    "<eof> expected near 'end'": "there is one `end` too many",
    r"(?s)\A(?!.*\bfunction\b)": "a script defines a function, as `function InterpretHealth(observedObj) ... end`",
    "near <eof>": "a block has no `end`, or a `--` hides it, because the script is on one line: begin it with |",
}
"""Parts of a script with an error in another line, or of the message of the error, with the advice."""
