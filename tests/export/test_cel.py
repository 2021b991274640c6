import pytest

from karta_interpreter.base.errors import ExportError
from karta_interpreter.export.cel import cel
from karta_interpreter.languages.jq.syntax.parser import parse
from tests.support.rows import rows

CONDITIONS = "status.?conditions.orValue([])"


@rows(
    ("expression", "expected", "reason"),
    [
        (".status.phase", "status.?phase.orValue(null)", "a field that is absent is null"),
        (".status", "status", "the first field is a variable, which cannot be optional"),
        ('.metadata.labels["a/b"]', "metadata.?labels[?'a/b'].orValue(null)", "a key that is not a name"),
        (".status.in", "status[?'in'].orValue(null)", "a reserved word is not a name"),
        ('.a.b == "it\'s"', "a.?b.orValue(null) == 'it\\'s'", "a quote in a text"),
        ('(.a.b // "x") == "y"', "a.?b.orValue(null) == 'y'", "the default does not matter to another literal"),
        ('(.a.b // "x") == "x"', "a.?b.orValue(null) in [null, 'x']", "a null is equal to the default"),
        ('(.a.b // "x") != "x"', "!(a.?b.orValue(null) in [null, 'x'])", "and different where it is not"),
        ("(.a.b // []) == []", "a.?b.orValue(null) in [null, []]", "an empty list is a literal"),
        ('.a.b // "" | IN("", "P")', "a.?b.orValue(null) in [null, '', 'P']", "one of several"),
        (".a.b // .c.d", "a.?b.orValue(null) in [null, false] ? c.?d.orValue(null) : a.?b.orValue(null)", "no literal"),
        ("(.a.b // 0) < (.a.c // 1)", "a.?b.orValue(0) < a.?c.orValue(1)", "numbers in any case"),
        (".a.b > 3", "a.?b.orValue(null) != null && 3 < a.?b.orValue(null)", "null is less than any number"),
        (".a.b < 3", "a.?b.orValue(null) == null || a.?b.orValue(null) < 3", "the same from the other side"),
        (".a.b and (.a.c // false)", "!(a.?b.orValue(null) in [null, false]) && a.?c.orValue(false)", "jq's truth"),
        ('.a.b == "x" and (.c.d == "y" or .c.d == "z")',
         "a.?b.orValue(null) == 'x' && (c.?d.orValue(null) == 'y' || c.?d.orValue(null) == 'z')", "parentheses"),
        ('.status.conditions | any(.[]?; .type == "Ready")',
         f"{CONDITIONS}.exists(e, e.?type.orValue(null) == 'Ready')", "one of a list"),
        ('any(.status.conditions[]; .type == "Ready") | not',
         f"!{CONDITIONS}.exists(e, e.?type.orValue(null) == 'Ready')", "none of a list"),
        ('.status.conditions // [] | all(.status == "True")',
         f"{CONDITIONS}.all(e, e.?status.orValue(null) == 'True')", "all of a list"),
        ('[.status.conditions[]? | select(.status == "True") | .type] == ["Created"]',
         f"{CONDITIONS}.filter(e, e.?status.orValue(null) == 'True').map(e, e.?type.orValue(null)) == ['Created']",
         "a list of what is selected"),
        ("[.a.b[] | select(any(.c[]; .d == 1))] | length > 0",
         "0 < size(a.?b.orValue([]).filter(e, e.?c.orValue([]).exists(f, f.?d.orValue(null) == 1)))", "nested lists"),
        ("if .a.b == 1 then true else .a.c == 2 end",
         "a.?b.orValue(null) == 1 ? true : a.?c.orValue(null) == 2", "a choice"),
        ("(if .a.b == 1 then .a.c else null end) | any(.[]?; .d == 2)",
         "(a.?b.orValue(null) == 1 ? a.?c.orValue([]) : []).exists(e, e.?d.orValue(null) == 2)",
         "the elements of a choice that may be null"),
        ("(.a.b // .a.c) | length == 0",
         "size((a.?b.orValue(null) in [null, false] ? a.?c.orValue([]) : a.?b.orValue([]))) == 0",
         "the length of a choice between fields"),
        ('(.a.b // []) - (.c.d // "" | split(",")) == []',
         "a.?b.orValue([]).all(e, e in c.?d.orValue('').split(','))", "all of a list are in another one"),
        ('(.a.b // []) - (.c.d // "" | split(",")) != []',
         "!a.?b.orValue([]).all(e, e in c.?d.orValue('').split(','))", "some of them are not"),
        ('.a.b // "" | ascii_downcase | startswith("x")',
         "a.?b.orValue('').lowerAscii().startsWith('x')", "functions of texts"),
    ],
)  # fmt: skip
def test_expressions(expression: str, expected: str, reason: str) -> None:
    assert cel(parse(expression)).text == expected, reason


@rows(
    ("expression", "message"),
    [
        pytest.param(".a[0]", "`.a[0]` cannot be written in CEL", id="an element"),
        pytest.param(".a.b[] == 1", "`.a.b[]` cannot be written in CEL", id="several values"),
        pytest.param('.a.b < "x"', '`.a.b < "x"`: CEL orders only numbers', id="an order of texts"),
        pytest.param('."a-b".c', 'the field "a-b" is not a name in CEL', id="a variable with another name"),
        pytest.param("reduce .a[] as $x (0; . + $x)", "cannot be written in CEL", id="a reduction"),
        pytest.param("any(.a.b[]; any(.c[]; any(.d[]; any(.e[]; .f))))", "lists in lists in lists", id="depth"),
    ],
)
def test_expression_without_form_in_cel_is_rejected(expression: str, message: str) -> None:
    with pytest.raises(ExportError) as rejected:
        cel(parse(expression))

    assert message in str(rejected.value)
