"""Expressions that nobody wrote: those of definitions with a few words left out, doubled, swapped or exchanged."""

import re
from random import Random


def _split(text: str) -> list[str]:
    return text.split()


_WORD = re.compile(r'"(?:\\.|[^"\\])*"|[$@]?\w+|\?//|//=?|[<>=!|+*/%-]=|\.\.|\s+|.', re.DOTALL)
_WORDS = _split("""
    | , // //= = |= += ( ) [ ] { } . .. .a ."b" ? : ; == != < + - * / % and or not if then elif else end as $x
    reduce foreach try catch def label $__loc__ $__prog_args @base64 @base64d @json @text @sh @csv @nope -1 1.5 .5
    1e3 0x1 "t" "\\(.a)" null true empty error length keys del range paths recurse walk repeat env $ENV input debug
    halt first last limit splits test select map map_values to_entries with_entries getpath path tojson fromjson
    nosuch leaf_paths ltrimstr abs toarray #c import ?// .e0 .[1:] .[:-1] .[-1] .[0] pick(.a) have_decnum
    getpath(["a"]) limit(1;.) skip(1;.[]) splits("a") ascii input_line_number trimstr("a") add(.[]) min_by(.a)
    max_by(.) group_by(.a) unique unique_by(.a) sort sort_by(.) error(1) tostring tonumber type ascii_downcase
    explode implode flatten transpose any all min max add join(",") split("") contains("a") inside([1]) index("a")
    indices(1) startswith("a") ascii(65) floor sqrt pow(2;3) round todate fromdate isvalid(.) has("a") has(0) in({})
    tostream getpath([0]) .[]? .a? ?//. objects values scalars strings numbers infinite nan isnan utf8bytelength
    ltrim test("^[a-z]+$") match("a") capture("(?<x>a)") sub("a";"b") gsub("[0-9]";"") scan("[a-z]") @uri @html
    combinations any(.a) all(.>1) limit(0;.) first(.[])
""")
_PHRASES = (
    *("reduce .[] as $x (0; . + $x)", "foreach .[] as [$a] (0; . + 1)", "def f: .; f", "label $out | break $out"),
    *(". as [$a, {b: $c}] | $a", ". as [$a] ?// $a | $a", "try error catch .", "if . then 1 end", "{a: 1}.a", "[.[]?]"),
)


def changed(text: str, copies: int) -> list[str]:
    """So many copies of an expression with one to three changes each; the same ones every time."""
    chance = Random(text)  # noqa: S311 - the same expressions every time is what is wanted
    return [_changed(text, chance) for _ in range(copies)]


def words(text: str) -> list[str]:
    """The words of an expression, and what is between them.

    >>> words('.a//"b"')
    ['.', 'a', '//', '"b"']
    """
    return _WORD.findall(text)


def _changed(text: str, chance: Random) -> str:
    found = words(text)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        _change(found, chance)
    return "".join(found)


def _change(found: list[str], chance: Random) -> None:
    at, fate = chance.randrange(len(found) + 1), chance.random()
    if fate < 0.3 or at == len(found):
        found.insert(at, f" {chance.choice(_WORDS if chance.random() < 0.8 else _PHRASES)} ")
    elif fate < 0.5:
        found[at] = chance.choice(_WORDS)
    elif fate < 0.7:
        del found[at]
    elif fate < 0.85:
        found.insert(at, found[at])
    else:
        found.insert(chance.randrange(len(found)), found.pop(at))
