import pytest

from karta_interpreter.base.errors import QuerySyntaxError
from karta_interpreter.languages.jq.syntax.lexer import SIZE_LIMIT, Kind, tokenize
from tests.support.rows import rows


def kinds(text: str) -> list[tuple[str, str]]:
    return [(token.kind.name, token.text) for token in tokenize(text)[:-1]]


@rows(
    ("text", "expected"),
    [
        pytest.param(".a", [("FIELD", "a")], id="a field is one token with its dot"),
        pytest.param(". a", [("SYMBOL", "."), ("NAME", "a")], id="a dot and a name are not a field"),
        pytest.param(".if", [("FIELD", "if")], id="a keyword behind a dot is a field"),
        pytest.param("..", [("SYMBOL", "..")], id="two dots are one token"),
        pytest.param("...a", [("SYMBOL", ".."), ("FIELD", "a")], id="the longest symbol comes first"),
        pytest.param(".5", [("NUMBER", ".5")], id="a dot and a digit are a number"),
        pytest.param("1.a", [("NUMBER", "1."), ("NAME", "a")], id="the dot belongs to the number"),
        pytest.param("1.5e-3x", [("NUMBER", "1.5e-3"), ("NAME", "x")], id="a number with an exponent"),
        pytest.param("1e", [("NUMBER", "1"), ("NAME", "e")], id="an exponent needs digits"),
        pytest.param("a::b", [("NAME", "a::b")], id="a qualified name"),
        pytest.param("a:b", [("NAME", "a"), ("SYMBOL", ":"), ("NAME", "b")], id="a single colon separates"),
        pytest.param("$a::b", [("VARIABLE", "a::b")], id="a qualified variable"),
        pytest.param("@base64d", [("FORMAT", "base64d")], id="a format"),
        pytest.param("iffy if", [("NAME", "iffy"), ("KEYWORD", "if")], id="a keyword is a whole word"),
        pytest.param("a?//b", [("NAME", "a"), ("SYMBOL", "?//"), ("NAME", "b")], id="the pattern separator"),
        pytest.param("a//=b", [("NAME", "a"), ("SYMBOL", "//="), ("NAME", "b")], id="a three letter assignment"),
        pytest.param("1#2\n3", [("NUMBER", "1"), ("NUMBER", "3")], id="a comment ends with its line"),
        pytest.param("#\\\n1\n2", [("NUMBER", "2")], id="a backslash continues a comment"),
        pytest.param("#\\\\\n1", [("NUMBER", "1")], id="an escaped backslash does not"),
        pytest.param("#\r1\n2", [("NUMBER", "2")], id="a carriage return does not end a comment"),
    ],
)
def test_code(text: str, expected: list[tuple[str, str]]) -> None:
    assert kinds(text) == expected


@rows(
    ("text", "pieces"),
    [
        pytest.param('"a#b"', ["a#b"], id="no comments in strings"),
        pytest.param('"&& \' ==="', ["&& ' ==="], id="no slips in strings"),
        pytest.param(r'"\"\\\/\b\f\n\r\t"', ['"\\/\b\f\n\r\t'], id="all short escapes"),
        pytest.param(r'"\u00e9\ud83d\ude00"', ["é\U0001f600"], id="a surrogate pair is one character"),
        pytest.param('"a\nb"', ["a\nb"], id="a line break may stand in a string"),
        pytest.param(r'"a\(1)b"', ["a", "b"], id="text around an interpolation"),
        pytest.param(r'"\("x\("y")")z"', ["x", "y", "z"], id="strings in interpolations in strings"),
        pytest.param(r'"\((1)|(2))c"', ["c"], id="parentheses in an interpolation are counted"),
    ],
)
def test_text(text: str, pieces: list[str]) -> None:
    assert [token.text for token in tokenize(text) if token.kind is Kind.TEXT] == pieces


def test_tokens_know_their_place() -> None:
    text = ' .spec  "x\\(1)" # c'
    spans = [text[token.span.start : token.span.end] for token in tokenize(text)]
    assert spans == [".spec", '"', "x", "\\(", "1", ")", '"', ""]


@rows(
    ("text", "message", "place", "hint"),
    [
        pytest.param(".a é", "unexpected character `é`", (3, 4), "", id="a letter that names cannot have"),
        pytest.param(".a \x01", "unexpected character U+0001", (3, 4), "", id="a control character is spelled out"),
        pytest.param(".a 'x'", "unexpected character `'`", (3, 4), "", id="single quotes"),
        pytest.param(".a\u00a0", "unexpected character U+00A0", (2, 3), "", id="a no-break space"),
        pytest.param(".a && .b", "unexpected character `&`", (3, 4), "", id="and of C"),
        pytest.param('.a "xy', "the string that starts here never ends", (3, 4), "", id="an endless string"),
        pytest.param('"a\\("b', "the string that starts here never ends", (4, 5), "", id="the inner one never ends"),
        pytest.param('"a\\', "the string that starts here never ends", (0, 1), "", id="an escape cut short"),
        pytest.param('"a\\x"', "`\\x` is not an escape", (2, 4), "hexadecimal", id="an unknown escape"),
        pytest.param('"\\u12"', "`\\u` is not an escape", (1, 3), "hexadecimal", id="too few digits"),
        pytest.param('"\\ud83d"', "half of a surrogate pair", (1, 7), "", id="a lone surrogate escape"),
        pytest.param(".a | \ud83d", "half of a surrogate pair", (5, 6), "", id="a lone surrogate"),
    ],
)
def test_errors(text: str, message: str, place: tuple[int, int], hint: str) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        tokenize(text)
    assert message in caught.value.message
    assert (caught.value.start, caught.value.end) == place
    assert hint in caught.value.hint


def test_size_is_counted_in_bytes() -> None:
    half = "é" * ((SIZE_LIMIT - 2) // 2)
    assert len(tokenize(f'"{half}"')) == 4
    with pytest.raises(QuerySyntaxError, match="65538 bytes long; at most 65536"):
        tokenize(f'"{half}é"')
