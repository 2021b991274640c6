from interpreter.findings import format_path
from interpreter.lua.reading import read_scripts

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
