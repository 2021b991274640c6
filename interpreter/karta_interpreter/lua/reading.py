"""From the scripts of a customization, by Karmada's field names, to scripts by operation."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from karta_interpreter.errors import LuaSyntaxError
from karta_interpreter.findings import Finding, Severity, error, warning
from karta_interpreter.jq.syntax import Span
from karta_interpreter.k8s.values import JSON, Path, type_name
from karta_interpreter.lua.lines import Lines, find_word
from karta_interpreter.lua.place import Place
from karta_interpreter.lua.script import SLOTS, Script, Scripts
from karta_interpreter.suggestion import did_you_mean

if TYPE_CHECKING:
    from karta_interpreter.lua.judgement import Judgement

_OPERATIONS = {slot.field: operation for operation, slot in SLOTS.items()}
_SCRIPT = "luaScript"


@dataclass(frozen=True, slots=True)
class Reading:
    """The scripts that can be run, everything that is to be said, and the operations whose script cannot be run.

    A script that can be run may still have errors among its findings: Karmada, too, runs a script that calls what it
    forbids, and fails only when it gets there.
    """

    scripts: Scripts
    findings: tuple[Finding, ...] = ()
    broken: frozenset[str] = frozenset()


def read_scripts(customizations: JSON, name: str, path: Path = (), place: Place | None = None) -> Reading:
    """Read and judge a mapping such as ``spec.customizations``: ``{healthInterpretation: {luaScript: ...}}``.

    ``name`` is that of the customization, for messages, and ``path`` where the mapping stands, for findings. With a
    ``place`` the findings and the scripts know their lines.

    >>> reading = read_scripts({"retention": {"luaScript": "function Retain(a, b) return a end"}}, "mine")
    >>> reading.scripts.of("Retain")[0].function
    'Retain'
    """
    reader = _Reader(name, place)
    reader.read(customizations, path)
    return Reading(Scripts(reader.scripts), tuple(reader.findings), frozenset(reader.broken))


def unknown_fields(value: Iterable[str], known: Iterable[str], path: Path) -> Iterator[Finding]:
    """A finding for each field that is not a known one."""
    for field in value:
        if field not in known:
            yield error("unknown-field", (*path, field), f"there is no field {field}", did_you_mean(field, known))


class _Reader:
    """One reading of one customization; collects."""

    def __init__(self, name: str, place: Place | None) -> None:
        self._name = name
        self._place = place
        self.scripts: list[Script] = []
        self.findings: list[Finding] = []
        self.broken: set[str] = set()

    def read(self, customizations: JSON, path: Path) -> None:
        if not isinstance(customizations, dict):
            self._report(error("schema", path, f"must be an object, not {type_name(customizations)}"))
            return
        self._report(*unknown_fields(customizations, _OPERATIONS, path))
        operations = [
            _OPERATIONS[field] for field, slot in customizations.items() if field in _OPERATIONS and slot is not None
        ]
        if not operations:
            self._report(warning("no-scripts", path, "there is no script", f"write one of: {', '.join(_OPERATIONS)}"))
        for operation in operations:
            field = SLOTS[operation].field
            self._read_slot(operation, customizations[field], (*path, field))

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
            found = type_name(text) if _SCRIPT in slot else "missing"
            self._break(operation, error("schema", path, f"the field {_SCRIPT} must be a string, but is {found}"))

    def _read_script(self, operation: str, text: str, path: Path) -> None:
        lines = self._place.script(path, text) if self._place else None
        script = self._script(operation, text, lines)
        from karta_interpreter.lua.engine import compile_script  # noqa: PLC0415 - Lua, which few definitions need
        from karta_interpreter.lua.judgement import Judgement, judge  # noqa: PLC0415 - the same
        from karta_interpreter.lua.machine.source import prepare  # noqa: PLC0415 - the same

        judgements = judge(operation, text)
        if not any(judgement.fatal for judgement in judgements):
            try:
                compile_script(text)
                self.scripts.append(replace(script, prepared=prepare(text)))
            except LuaSyntaxError as err:  # what only the compiler says, such as too many local variables
                judgements.append(Judgement(Severity.ERROR, "lua-syntax", str(err), line=err.line, fatal=True))
        if any(judgement.fatal for judgement in judgements):
            self.broken.add(operation)
        findings = [_finding(script, judgement, path, lines) for judgement in judgements]
        self._report(*findings, *(_swallowed(lines, path) if lines else ()))

    def _script(self, operation: str, text: str, lines: Lines | None) -> Script:
        script = Script(operation, text, self._name)
        if self._place is None or lines is None:
            return script
        first, *_ = of_script = lines.of_script
        return replace(script, source=self._place.source, line=first, lines=() if lines.are_consecutive else of_script)

    def _break(self, operation: str, finding: Finding) -> None:
        self.broken.add(operation)
        self._report(finding)

    def _report(self, *findings: Finding) -> None:
        self.findings += [self._place.locate(finding) for finding in findings] if self._place else findings


def _finding(script: Script, judgement: "Judgement", path: Path, lines: Lines | None) -> Finding:
    """What was found in a script as a finding in its file; without a file the message has the line."""
    text = script.line_text(judgement.line)
    found = find_word(judgement.word, text) or find_word("", text)
    finding = Finding(
        judgement.severity,
        judgement.rule,
        path,
        judgement.message,
        judgement.hint,
        expression=text,
        span=Span(*found.span()) if found else None,
    )
    if not judgement.line:
        return finding
    if lines is None:
        return replace(finding, message=f"line {judgement.line} of the script: {judgement.message}")
    line, column = lines.place(judgement.line, judgement.word)
    return replace(finding, line=line, column=column)


def _swallowed(lines: Lines, path: Path) -> Iterator[Finding]:
    for line, column, text in lines.swallowed():
        found = warning(
            "folded-comment",
            path,
            "YAML makes this line a part of the comment before it",
            "a block that starts with > is folded; start it with |",
        )
        yield replace(found, line=line, column=column, expression=text)
