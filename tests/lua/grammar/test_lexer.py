import pytest

from karta_interpreter.errors import LuaSyntaxError
from karta_interpreter.lua.grammar.lexer import SIZE_LIMIT, Kind, scan, tokenize, value_of


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        pytest.param("a..b...", ["a", "..", "b", "..."], id="dots take as many as they can"),
        pytest.param("1 ..b", ["1", "..", "b"], id="a blank ends a number"),
        pytest.param("0x1f..b", ["0x1f", "..", "b"], id="a hexadecimal number has no fraction"),
        pytest.param("a.b:c::d", ["a", ".", "b", ":", "c", "::", "d"], id="two colons are one token"),
        pytest.param("a<=b~=c==d", ["a", "<=", "b", "~=", "c", "==", "d"], id="comparisons"),
        pytest.param("a[ [[b]] ]", ["a", "[", "[[b]]", "]"], id="a long string as an index"),
        pytest.param("[=[ ]] ]=]a", ["[=[ ]] ]=]", "a"], id="a long string ends at its own depth"),
        pytest.param("a --[[ b\n]] c -- d\ne", ["a", "c", "e"], id="comments are left out"),
        pytest.param("--[ a\nb", ["b"], id="one bracket starts no long comment"),
        pytest.param("3or", ["3", "or"], id="a number ends where it must"),
        pytest.param(r"'a\'b' 'c'", [r"'a\'b'", "'c'"], id="an escaped quote ends nothing"),
    ],
)
def test_splits_a_script(text: str, tokens: list[str]) -> None:
    assert [token.text for token in tokenize(text)] == [*tokens, ""]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        pytest.param("a\nb\n\nc", [1, 2, 4, 4], id="line feeds"),
        pytest.param("a\r\nb\n\rc\rd", [1, 2, 3, 4, 4], id="every newline of Lua"),
        pytest.param("[[\n\n]] a", [1, 3, 3], id="inside of a long string"),
        pytest.param("'\\\n' a", [1, 2, 2], id="inside of a string"),
        pytest.param("--[[\n]] a --\nb", [2, 3, 3], id="inside of a comment"),
    ],
)
def test_counts_lines(text: str, lines: list[int]) -> None:
    assert [token.line for token in tokenize(text)] == lines


def test_tokens_know_their_place() -> None:
    text = "local a --c\n= [[x]]"
    assert [text[token.start : token.end] for token in scan(text)] == ["local", "a", "--c", "=", "[[x]]", ""]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param(r"'a\tb\\\"\q'", 'a\tb\\"q', id="escapes, and a letter that needs none"),
        pytest.param(r"'\65\0661\0'", "AB1\0", id="bytes by number, of at most three digits"),
        pytest.param(r"'\195\169é'", "éé", id="bytes that are UTF-8"),
        pytest.param(r"'\255'", "\udcff", id="a byte that is not"),
        pytest.param("'a\\\r\nb'", "a\nb", id="a newline of two characters is one"),
        pytest.param("[[\r\na\r\nb]]", "a\nb", id="a long string loses its first newline"),
        pytest.param(r"[=[a\n]]]=]", r"a\n]]", id="a long string has no escapes"),
        pytest.param("''", "", id="nothing"),
    ],
)
def test_reads_the_value_of_a_string(text: str, value: str) -> None:
    token, _ = tokenize(text)
    assert token.kind is Kind.TEXT
    assert value_of(token) == value


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("\na = 'x\ny'", "the string that starts here has no closing `'` on its line", 2),
        ("a = 1\nb = [==[ ]=]\n", "the string opened with `[==[` is never closed with `]==]`", 2),
        ("a\n--[[ b\n", "the comment opened with `--[[` is never closed with `]]`", 2),
        ("--[= b", "`[=` starts a long comment, but has no second `[`", 1),
        ("a = [=b", "`[=` starts a long string, but has no second `[`", 1),
        ("a = 3e", "`3e` is not a number", 1),
        ("a = 1..2", "`1..2` is not a number", 1),
        ("a = 0x", "`0x` is not a number", 1),
        ("a = .5.x", "`.5.x` is not a number", 1),
        ("a != b", "`!=` is not Lua; write `~=`", 1),
        ("a = !b", "`!` is not Lua; write `not`", 1),
        ("a && b", "`&&` is not Lua; write `and`", 1),
        ("a || b", "`||` is not Lua; write `or`", 1),
        ("a = ~b", "`~` is not Lua; unequal is `~=`", 1),
        ("\ufeffa = 1", "the script starts with a byte order mark; remove it", 1),
        ("a = 1 @", "`@` means nothing in Lua", 1),
        ("\x1bLua", r"'\x1b' means nothing in Lua", 1),
        ("a\n= '\ud800'", "this character is half of a surrogate pair", 2),
        (" " * (SIZE_LIMIT + 1), f"the script is {SIZE_LIMIT + 1} bytes long; at most {SIZE_LIMIT} are allowed", 1),
    ],
)
def test_names_what_is_no_token(text: str, message: str, line: int) -> None:
    with pytest.raises(LuaSyntaxError) as caught:
        tokenize(text)
    assert (str(caught.value), caught.value.line) == (message, line)


def test_a_byte_has_three_digits_at_most_and_is_at_most_255() -> None:
    (token, _) = tokenize(r"'\256'")
    with pytest.raises(LuaSyntaxError, match="is not a byte"):
        value_of(token)
