import pytest

from karta_interpreter.base.findings import format_path
from karta_interpreter.languages.lua.reading import read_scripts

_PATH = ("metadata", "annotations", "karta-interpreter.io/lua")


def test_scripts_of_which_nobody_knows_where_they_stand() -> None:
    reading = read_scripts({"retention": {"luaScript": "function Retain(a, b) return a end"}}, "mine", _PATH)

    (script,) = reading.scripts
    assert (script.name, script.source, script.line, script.line_in_source(1)) == ("mine", "", 0, 0)
    assert (reading.findings, reading.broken) == ((), frozenset())


def test_findings_without_a_file_name_the_line_of_the_script() -> None:
    reading = read_scripts({"retention": {"luaScript": "function Retain(a, b)\n  return nope\nend"}}, "mine", _PATH)

    (finding,) = reading.findings
    assert format_path(finding.path) == 'metadata.annotations["karta-interpreter.io/lua"].retention.luaScript'
    assert finding.message == "line 2 of the script: nope is nil: nothing sets it"
    assert (finding.line, finding.expression) == (0, "return nope")


@pytest.mark.parametrize(
    ("script", "line", "message"),
    [
        pytest.param(
            "function Retain(a, b)\n" + "".join(f"  local v{n}\n" for n in range(201)) + "  return a\nend",
            201,
            "too many local variables (limit is 200)",
            id="local variables, of which a and b are two; it is noticed behind the last of them",
        )
    ],
)
def test_compiler_error_is_found_on_reading(script: str, line: int, message: str) -> None:
    reading = read_scripts({"retention": {"luaScript": script}}, "mine", _PATH)

    (finding,) = reading.findings
    assert (finding.rule, set(reading.broken), bool(reading.scripts)) == ("lua-syntax", {"Retain"}, False)
    assert finding.message.startswith(f"line {line} of the script: ")
    assert message in finding.message


def test_reading_does_not_run_the_script() -> None:
    """Only the compiler sees its text: nothing runs before a call."""
    reading = read_scripts({"retention": {"luaScript": "error('ran')\nfunction Retain(a, b) return a end"}}, "mine")
    assert not reading.findings
    assert reading.scripts.of("Retain")
