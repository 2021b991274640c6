import re

from karta_interpreter.languages.lua.machine.patterns import Pattern, Search
from karta_interpreter.languages.lua.machine.syntax import nodes_of, pattern_of
from tests.support.rows import rows


def _lines(pattern: Pattern, script: str) -> list[int]:
    return sorted(node.line for node, _ in Search(nodes_of(script)).matches(pattern))


@rows(
    ("code", "script", "lines"),
    [
        ("$x == $x", "return a.b == a.b\n", [1]),
        ("$x == $x", "return a.b == a.c", []),
        ("$text1 == $literal2", "x = 'a' == 1\ny = b == 1", [1]),
        ("$x.$text1 = $y[$name1]", "s.n = t[n]\ns.n = t.n\ns.n = t['n']", [1]),
        ("f(..., $text, ...)", "f(1, 'a')\nf('a', 1)\nf(1)", [1, 2]),
        ("do ... return $x end", "function f()\n  g()\n  return 1\nend", [2]),
        ("if $x then return 1 end", "if a then\n  b()\nelseif c then\n  return 1\nend", [3]),
        ("{a = $x}", "x = {b = 1,\n  a = 2}", [2]),
        ("not $x == 1", "y = (not a) == 1\ny = not (a == 1)", [1]),
        ("$numeric", "return 1", []),
    ],
)
def test_pattern_is_found(code: str, script: str, lines: list[int]) -> None:
    assert _lines(Pattern([pattern_of(code)]), script) == lines


@rows(
    ("around", "without", "lines"),
    [
        ("local $x = 1", "local $x = 3", [4]),
        ("local $x = $y", "return $x", [4, 7]),
        ("for $i, $x in $list do ... end", "f()", [10]),
        ("function $x() ... end", "f()", [13]),
    ],
)
def test_pattern_looks_around(around: str, without: str, lines: list[int]) -> None:
    script = (
        "function one()\n  local a = 1\n  local b = 2\n  use(a)\nend\n"  # 1 to 5
        "function two() local b = 2\n  use(b) end\n"
        "function three()\n  for k, c in all do\n    use(c) end\n  for d in all do end\nend\n"  # to 12
        "function four() use(g) end function g() return a end"
    )
    pattern = Pattern([pattern_of("use($x)")], [[pattern_of(around)]], [pattern_of(without)])

    assert _lines(pattern, script) == lines


def test_parameters_have_their_documented_names() -> None:
    pattern = Pattern(
        [pattern_of("return observedObj.$x")],
        functions={"Retain": ("desiredObj", "observedObj")},
        where={"x": re.compile("^spec$")},
    )
    script = (
        "function Retain(a, b)\n  if a then return b.spec end\n  return a.spec\nend\n"
        "function Other(a, b)\n  return b.spec\nend\n"
        "function Retain(observedObj, desiredObj) return observedObj.spec end"
    )

    assert _lines(pattern, script) == [2, 8]


def test_local_that_nothing_reads() -> None:
    pattern = Pattern([pattern_of("$x = $y")], [[pattern_of("local $x")]], unread="x")

    assert _lines(pattern, "function f()\n  local a local b\n  a = 1\n  b = 2\n  return b\nend") == [3]
