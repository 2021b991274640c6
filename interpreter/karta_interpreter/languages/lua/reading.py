"""From the scripts of a customization, by Karmada's field names, to scripts by operation."""

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import Final

from msgspec import Struct, structs

from karta_interpreter.base.errors import LuaError
from karta_interpreter.base.findings import Finding, Severity, Span, error, hints, warning
from karta_interpreter.base.k8s import JSON, Path, type_name
from karta_interpreter.base.karmada import SLOTS, Operation
from karta_interpreter.base.positions import Lines, SourcePosition
from karta_interpreter.languages.lua.machine.lint import Lint
from karta_interpreter.languages.lua.machine.worker import Job, run_job
from karta_interpreter.languages.lua.script import Script, Scripts

_OPERATIONS = {SLOTS[operation].field: operation.value for operation in Operation}
_SCRIPT = "luaScript"
# The parts of a customization that have a field which may stand elsewhere by mistake.
_OWNERS: Final = {
    **dict.fromkeys(("target", "customizations"), "spec"),
    **dict.fromkeys(_OPERATIONS, "customizations"),
    _SCRIPT: f"an operation, such as {SLOTS[Operation.INTERPRET_HEALTH].field}",
}
_TEXT = re.compile(r"\S.*")

SIZE_LIMIT = 256 * 1024
"""The longest accepted script, in bytes of UTF-8."""

_lints: Final[ContextVar[bool]] = ContextVar("lints", default=True)


@contextmanager
def without_linting() -> Iterator[None]:
    """Read definitions inside of the block without linting them and their scripts.

    The catalogue uses it, because its tests lint it: the start of a server takes less time, and no process. A child
    process that answers calls uses it, because the server has linted the definition.
    """
    token = _lints.set(False)
    try:
        yield
    finally:
        _lints.reset(token)


def lints() -> bool:
    """Return whether definitions are linted when they are read."""
    return _lints.get()


def read_scripts(
    customizations: JSON, name: str, path: Path = (), place: SourcePosition | None = None, *, agrees: bool = False
) -> "ScriptReading":
    """Read and judge a mapping such as ``spec.customizations``: ``{healthInterpretation: {luaScript: ...}}``.

    ``name`` is the name of the customization, for messages, and ``path`` is the path of the mapping, for findings. With
    a ``place`` the findings and the scripts know their lines. ``agrees`` is `Script.agrees`.

    >>> reading = read_scripts({"retention": {"luaScript": "function Retain(a, b) return a end"}}, "mine")
    >>> reading.scripts.of("Retain")[0].function
    'Retain'
    """
    reader = _Reader(name, place, agrees=agrees)
    reader.read(customizations, path)
    return ScriptReading(Scripts(reader.scripts), tuple(reader.findings), frozenset(reader.broken))


def unknown_fields(names: Iterable[str], known: Collection[str], path: Path) -> Iterator[Finding]:
    """Yield a finding for each field that is not a known one."""
    hint = hints(known)
    for name in names:
        if name not in known:
            owner = _OWNERS.get(name)
            advice = f"it is a field of {owner}" if owner else hint(name)
            yield error("unknown-field", (*path, name), f"there is no field {name}", advice)


class ScriptReading(Struct, frozen=True):
    """The scripts of a customization that can be run, the findings, and the operations with one that cannot be run.

    A script that can be run may still have errors among its findings: Karmada, too, runs a script that calls a
    forbidden function, and fails only when it gets there.
    """

    scripts: Scripts
    findings: tuple[Finding, ...]
    broken: frozenset[str]


class _Reader:
    """Collects the scripts and the findings of one customization."""

    def __init__(self, name: str, place: SourcePosition | None, *, agrees: bool) -> None:
        self.name, self.place, self.agrees = name, place, agrees
        self.scripts: list[Script] = []
        self.findings: list[Finding] = []
        self.broken: set[str] = set()

    def read(self, customizations: JSON, path: Path) -> None:
        """Read and judge the scripts of a customization."""
        if not isinstance(customizations, dict):
            self._report(error("schema", path, f"must be an object, not {type_name(customizations)}"))
            return
        self._report(*unknown_fields(customizations, _OPERATIONS, path))
        slots = {field: slot for field, slot in customizations.items() if field in _OPERATIONS}
        if customizations.keys() == slots.keys() and all(slot is None for slot in slots.values()):
            hint = f"delete it, so that a Karta answers, or write one of: {', '.join(_OPERATIONS)}"
            self._report(warning("no-scripts", path, "there is no script", hint))
        for field, slot in slots.items():
            self._read_slot(_OPERATIONS[field], {_SCRIPT: ""} if slot is None else slot, (*path, field))

    def _read_slot(self, operation: str, slot: JSON, path: Path) -> None:
        if not isinstance(slot, dict):
            message = f"must be an object with the field {_SCRIPT}, not {type_name(slot)}"
            self._break(operation, error("schema", path, message))
            return
        self._report(*unknown_fields(slot, (_SCRIPT,), path))
        text = slot.get(_SCRIPT)
        if isinstance(text, str) and text:
            self._read_script(operation, text, (*path, _SCRIPT))
        elif text == "":
            hint = "Karmada takes it for none; remove it"
            self._report(warning("empty-script", (*path, _SCRIPT), "the script is empty", hint))
        else:
            actual = type_name(text) if _SCRIPT in slot else "missing"
            message = f"the field {_SCRIPT} must be a string, but is {actual}"
            self._break(operation, error("schema", path, message))

    def _read_script(self, operation: str, text: str, path: Path) -> None:
        lines = self.place.lines_of(path, text) if self.place else None
        script = Script(operation, text, self.name, agrees=self.agrees)
        if self.place and lines:
            of_script = () if lines.are_consecutive else lines.of_value
            script = structs.replace(
                script,
                source=self.place.source,
                line=lines.of_value[0],
                lines=of_script,
                column=lines.at(1, 1)[1],
            )
        problems = _lint(operation, text, self.name)
        if any(problem.fatal for problem in problems):
            self.broken.add(operation)
        else:
            self.scripts.append(script)
        self._report(*(_finding(script, problem, path, lines) for problem in problems))

    def _break(self, operation: str, finding: Finding) -> None:
        self.broken.add(operation)
        self._report(finding)

    def _report(self, *findings: Finding) -> None:
        self.findings += [self.place.locate(finding) for finding in findings] if self.place else findings


def _lint(operation: str, text: str, name: str) -> list[Lint]:
    """Return the findings about a script. Another process compiles it."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError as err:
        line = 1 + text.count("\n", 0, err.start)
        return [Lint("error", "lua-syntax", "this character is half of a surrogate pair", line=line, fatal=True)]
    if size > SIZE_LIMIT:
        message = f"the script is {size} bytes long; at most {SIZE_LIMIT} are allowed"
        return [Lint("error", "lua-syntax", message, line=1, fatal=True)]
    if not lints():
        return []
    try:
        return [Lint(*fields) for fields in run_job(Job(["lint", text, operation], name, is_lint=True))]
    except LuaError:
        # No process was free, or the script is too much for one. It is tried when it is called.
        return []


def _finding(script: Script, lint: Lint, path: Path, lines: Lines | None) -> Finding:
    """Return a finding in a script as a finding in its file. Without a file the message has the line."""
    text = script.line_text(lint.line)
    word = _find_word(lint.word, text) or _TEXT.search(text)
    span = Span(*word.span()) if word else None
    finding = Finding(Severity(lint.severity), lint.rule, path, lint.message, lint.hint, expression=text, span=span)
    if not lint.line:
        return finding
    if lines is None:
        message = f"line {lint.line} of the script: {lint.message}"
        indentation = "".join(script.text.split("\n")[lint.line - 1 : lint.line]).find(text)
        return replace(finding, message=message, inside=(lint.line, indentation + 1 + (word.start() if word else 0)))
    line, column = lines.place(lint.line, partial(_find_word, lint.word))
    return replace(finding, line=line, column=column)


def _find_word(word: str, line: str) -> re.Match[str] | None:
    """Find a name in a line of Lua, or at least the last part of a library function's name. Without one, the text.

    >>> _find_word("string.gsub", "return text:gsub(a, b)").span()
    (12, 16)
    """
    if not word:
        return _TEXT.search(line)
    member = word.rpartition(".")[2]
    return re.search(rf"(?<![\w.:]){re.escape(word)}(?!\w)", line) or re.search(
        rf"(?<!\w){re.escape(member)}(?!\w)", line
    )
