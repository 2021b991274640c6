from collections.abc import Iterator
from itertools import islice

import jq
import pytest
from hypothesis import assume, given

from karta_interpreter.base.errors import QueryEvaluationError
from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.languages.jq.analysis import Execution, Vetting, examine, vet
from karta_interpreter.languages.jq.analysis.refusals import FORMATS
from karta_interpreter.languages.jq.compiled.costs import SIZE_LIMIT
from karta_interpreter.languages.jq.compiled.functions import (
    BUILTINS,
    FORBIDDEN,
    FUNCTIONS,
    ONLY_JQ,
    Argument,
    Function,
)
from karta_interpreter.languages.jq.syntax import FunctionCall, Literal, Node
from karta_interpreter.languages.jq.syntax.parser import parse
from tests.languages.jq.expressions import function_id, objects, plain_expressions
from tests.languages.jq.oracle import compile_many
from tests.languages.jq.syntax.corpus import ACCEPTED
from tests.support.rows import rows


def judge(text: str) -> Vetting:
    return vet(parse(text))


# What is refused

BANNED = [
    ("..", ".."), (".a = 1", "="), (".a |= 1", "|="), (".a += 1", "+="), (".a -= 1", "-="), (".a *= 1", "*="),
    (".a /= 1", "/="), (".a %= 1", "%="), (".a //= 1", "//="), ("del(.a)", "del"), ("range(3)", "range"),
    ("range(1; 3)", "range"), ("range(1; 3; 2)", "range"), ("range", "range"), ("paths", "paths"),
    ("paths(.)", "paths"), ("recurse", "recurse"), ("recurse(.a)", "recurse"), ("recurse(.a; .b)", "recurse"),
    ("walk(.)", "walk"), ("repeat(.)", "repeat"), ("env", "env"), ("env.HOME", "env"), ("$ENV", "$ENV"),
    ("$ENV.HOME", "$ENV"), ("input", "input"), ("inputs", "inputs"), ("input_filename", "input_filename"),
    ("input_line_number", "input_line_number"), ("debug", "debug"), ('debug("x")', "debug"), ("stderr", "stderr"),
    ("halt", "halt"), ("halt_error", "halt_error"), ("halt_error(1)", "halt_error"),
    ("get_search_list", "get_search_list"), ("modulemeta", "modulemeta"), ("made_up", "made_up"),
    ("made_up(1)", "made_up"), ("m::f", "m::f"), ("map", "map"), ("length(.)", "length"),
    ("keys_unsorted", "keys_unsorted"), ("_modify(.a; 1)", "_modify"), ("$unknown", "$unknown"),
    ("$__prog_args", "$__prog_args"), ("break $out", "break $out"), ("@base32", "@base32"),
    ('@made_up "x"', "@made_up"),
]  # fmt: skip

PLACES = [
    "HERE", "(HERE)", "((HERE))", "[HERE]", "[1, [HERE]]", "{a: HERE}", '{"a": HERE}', "{(HERE): 1}",
    '{"\\(HERE)": 1}', '{"\\(HERE)"}', ".[HERE]", ".a[HERE]?", ".[HERE:]", ".[:HERE]", ".[1:HERE]", '"\\(HERE)"',
    '"a\\("b\\(HERE)")"', '@json "\\(HERE)"', '."\\(HERE)"', "if HERE then 1 end", "if . then HERE end",
    "if . then 1 else HERE end", "if . then 1 elif HERE then 2 end", "if . then 1 elif . then HERE end",
    "def f: HERE; f", "def f: 1; HERE", "def f: def g: HERE; g; f", "try (HERE)", "try . catch (HERE)", "(HERE)?",
    "(HERE) as $x | 1", "1 as $x | HERE", "1 as [$x] ?// $x | HERE", ". as {(HERE): $x} | 1",
    ". as [{(HERE): $x}] | 1", "reduce (HERE) as $x (1; 2)", "reduce . as $x (HERE; 2)", "reduce . as $x (1; HERE)",
    "reduce . as {(HERE): $x} (1; 2)", "foreach (HERE) as $x (1; 2)", "foreach . as $x (HERE; 2)",
    "foreach . as $x (1; HERE)", "foreach . as $x (1; 2; HERE)", "label $l | HERE", "map(HERE)", "limit(1; HERE)",
    "def f(g): g; f(HERE)", "HERE | .", ". | HERE", "(HERE), 1", "1, HERE", "(HERE) // 1", "1 // (HERE)", "(HERE) + 1",
    "1 == (HERE)", ". and (HERE)", "-(HERE)", "(HERE).a", "(HERE)[]",
]  # fmt: skip


@pytest.mark.slow
@rows("place", PLACES)
def test_banned_functions_are_found_everywhere(place: str) -> None:
    for banned, construct in BANNED:
        text = place.replace("HERE", banned)
        vetting = judge(text)
        assert vetting.verdict is Execution.REFUSED
        (refusal,) = vetting.refusals
        assert construct.removeprefix("break ") in refusal.message
        found = text[refusal.span.start : refusal.span.end]
        assert set(text[refusal.span.start : text.index(banned)]) <= {"("}
        assert construct in found


@rows(
    "text",
    [
        pytest.param(".a # del(.b) | .. = range(3)", id="a comment"),
        pytest.param("# env \\\n still a comment: input\n.a", id="a continued comment"),
        pytest.param('"del(.a) .. |= range(3) $ENV"', id="a string"),
        pytest.param('"a \\(.b) range(3) ..", @uri "paths"', id="the text around an interpolation"),
        pytest.param(".range.paths.input.env.del", id="fields"),
        pytest.param('."range", .["walk"], ."del"[0]', id="quoted fields"),
        pytest.param("{range: 1, del: 2, env: 3} | {input, paths}", id="keys"),
        pytest.param("1 as $range | 2 as $env | $range + $env", id="variables"),
        pytest.param(". as {range: $x, $del} | $x", id="keys of patterns"),
        pytest.param("label $range | break $range", id="labels"),
        pytest.param(".a == 1 and .b <= 2 and .c >= 3 and .d != 4", id="comparisons with an equals sign"),
        pytest.param("def range: 1; .a", id="a definition that nobody calls"),
        pytest.param(". - 1", id="a difference"),
        pytest.param("$__loc__", id="the one built-in variable"),
    ],
)
def test_text_that_only_looks_banned_is_not_refused(text: str) -> None:
    assert judge(text).refusals == ()


@rows("name", sorted(FORBIDDEN))
def test_banned_names_are_banned_even_when_the_expression_defines_them(name: str) -> None:
    for text in (f"def {name}: 1; {name}", f"def {name}(f): 1; {name}(2)", f"def f({name}): {name}; f(1)"):
        (refusal,) = judge(text).refusals
        assert refusal.message.startswith(f"`{name}` is not allowed")


def test_refusals_are_in_order_of_text() -> None:
    text = "if .. then del(.a) else .b = ($x | made_up) end"
    found = [text[refusal.span.start : refusal.span.end] for refusal in judge(text).refusals]
    assert found == ["..", "del(.a)", ".b = ($x | made_up)", "$x", "made_up"]


@rows(
    ("text", "message", "hint"),
    [
        pytest.param(".a = 1", "`=` is not allowed: an expression only reads", "", id="="),
        pytest.param(".a |= 1", "`|=` is not allowed: an expression only reads", "", id="an update is not a slip"),
        pytest.param("range(9)", "`range` is not allowed: its output may", "", id="why range is banned"),
        pytest.param("slect(.a)", "there is no function `slect`", "did you mean `select`?", id="a misspelt function"),
        pytest.param("def total: 1; totl", "no function `totl`", "did you mean `total`?", id="a misspelt definition"),
        pytest.param("qqq(1)", "there is no function `qqq`", "", id="nothing comes near"),
        pytest.param("select", "`select` takes 1 argument, not 0", "", id="a missing argument"),
        pytest.param("map(.; .)", "`map` takes 1 argument, not 2", "", id="an argument too many"),
        pytest.param("any(1; 2; 3)", "`any` takes 0 or 1 or 2 arguments, not 3", "", id="several arities"),
        pytest.param("toarray", "a function of jq that gojq 0.12.19 does not have", "", id="jq has more"),
        pytest.param("1 as $total | $totl", "no variable `$totl`", "did you mean `$total`?", id="a misspelt variable"),
        pytest.param("@base64e", "`@base64e` is not a format", "did you mean `@base64", id="a misspelt format"),
        pytest.param("break $a", "there is no `label $a` around this", "", id="a missing label"),
    ],
)
def test_messages(text: str, message: str, hint: str) -> None:
    (refusal,) = judge(text).refusals
    assert message in refusal.message
    assert hint in refusal.hint
    assert bool(hint) == bool(refusal.hint)


# Names

NAMES = [
    "def f: 1; f", "def f: f; 1", "def f: g; def g: 1; f", "def f: def h: 1; h; h", "def f(g): g; f(2)",
    "def f(g): g(1); f(2)", "def f($a): $a; f(2)", "def f($a): a; f(2)", "def f(a): $a; f(2)",
    "def f(x): x; def f: 3; f, f(4)", "def f(a): 1; f", "(def f: 1; f) + f", "[def f: 1; f], f",
    "def f: $x; 1 as $x | f", "1 as $x | def f: $x; f", "1 as $x | 2 as $y | $x + $y", "(1 as $x | $x) + $x",
    ". as [$x, {a: $y, $z, $w: [$v]}] | $x, $y, $z, $w, $v", ". as [$x] ?// {a: $y} | $x, $y",
    ". as {a: $x, ($x): $y} | $y", "1 as $x | . as {($x | tostring): $y} | $y", "reduce .[] as $x (0; $x)",
    "reduce .[] as $x ($x; 0)", "reduce .[] as $x (0; 1) | $x", "foreach .[] as [$x, $y] (0; $x; $y)",
    "foreach .[] as $x ($x; 0)", "foreach .[] as $x (0; 1; $x)", "label $x | def f: break $x; f",
    "(label $x | 1) | break $x", "label $x | break $y", "label $x | $x", "1 as $x | break $x",
    "def f(g): def g: 1; g; f(2)", "def f: reduce .[] as $x (0; f); f",
]  # fmt: skip


@rows("text", NAMES)
def test_scopes_are_those_of_libjq(text: str) -> None:
    refused = judge(text).verdict is Execution.REFUSED
    assert refused is ("is not defined" in complaint(text))


def complaint(text: str) -> str:
    try:
        jq.compile(text)
    except ValueError as err:
        return str(err)
    return ""


@rows("text", ACCEPTED)
def test_verdict_refuses_only_banned_expressions(text: str) -> None:
    reasons = {refusal.message.split("`")[1] for refusal in judge(text).refusals}
    assert reasons <= {"..", "=", "|=", "+=", "-=", "*=", "/=", "%=", "//=", "@foo"}


def test_given_variables_are_known() -> None:
    assert vet(parse("$value + 1")).verdict is Execution.REFUSED
    assert vet(parse("$value + 1"), variables=frozenset({"value"})).verdict is Execution.PLAIN


@rows(
    "text",
    [
        pytest.param("$value[] | .a", id="its own elements"),
        pytest.param("{a: .b, c: $value.d}", id="once beside the input"),
        pytest.param("select(.a == $value.b)", id="once in a condition"),
        pytest.param("if $value then .a else .b end // $value.c", id="once in each branch"),
    ],
)
def test_variable_that_is_read_once_is_plain(text: str) -> None:
    assert vet(parse(text), variables=frozenset({"value"})).notes == ()


@rows(
    "text",
    [
        pytest.param(".a[] | $value.b", id="for each element"),
        pytest.param("map($value)", id="in a function of elements"),
        pytest.param("[.a[] | select(.b == $value.c)]", id="in a condition for each element"),
        pytest.param("any(.a[]; . == $value)", id="in a test of each element"),
    ],
)
def test_variable_that_is_read_many_times_is_bounded(text: str) -> None:
    (note,) = vet(parse(text), variables=frozenset({"value"})).notes
    assert note.message.startswith("`$value` ")


# The tables


def test_builtins_exist_in_libjq() -> None:
    names = {f"{name}/{arity}" for name, arity in BUILTINS}
    assert names <= set(jq.compile("builtins").input_value(None).first())


def test_forbidden_and_missing_functions_are_not_builtins() -> None:
    assert not {name for name, _ in BUILTINS} & set(FORBIDDEN)
    assert not BUILTINS & ONLY_JQ


def test_formats_exist_in_libjq() -> None:
    for name in FORMATS:
        jq.compile(f"try @{name} catch .").input_value("").first()
        assert "is not a valid format" not in str(jq.compile(f"try @{name} catch .").input_value("").first())


def test_plain_functions_are_builtins() -> None:
    assert FUNCTIONS.keys() <= BUILTINS


@rows("function", FUNCTIONS.values(), ids=function_id)
def test_variable_that_is_read_once_costs_as_much_as_the_input(function: Function) -> None:
    def verdict(argument: str) -> Execution:
        samples: dict[Argument, Node] = {
            Argument.ONCE: parse(argument),
            Argument.EACH: parse(".a"),
            Argument.PATTERN: parse(argument),
            Argument.SINGLE: Literal("x"),
            Argument.FLAGS: Literal(None),
            Argument.TEXT: Literal("x"),
        }
        node = FunctionCall(function.name, tuple(samples[kind] for kind in function.arguments))
        return vet(node, variables=frozenset({"v"})).verdict

    assert verdict("$v.x") is verdict(".x")


@rows(
    "text",
    [
        *(f"{name}($v.x)" for name in ("startswith", "endswith", "ltrimstr", "rtrimstr", "split")),
        *(f"{name}($v.x)" for name in ("contains", "has", "getpath", "first", "last", "isempty", "select", "test")),
        *("add($v.x[])", "any($v.x[]; . == 1)", "all($v.x[]; .a)", 'sub($v.x; "")', "match($v.x)"),
    ],
)
def test_functions_that_read_a_variable_once_are_plain(text: str) -> None:
    assert vet(parse(text), variables=frozenset({"v"})).verdict is Execution.PLAIN


@rows("function", [each for each in FUNCTIONS.values() if Argument.EACH in each.arguments], ids=function_id)
def test_argument_that_runs_for_each_element_may_not_read_variable(function: Function) -> None:
    arguments = (parse(".[]") if argument is Argument.ONCE else parse("$v.x") for argument in function.arguments)
    assert vet(FunctionCall(function.name, tuple(arguments)), variables=frozenset({"v"})).verdict is Execution.BOUNDED


@rows(
    ("text", "slip"),
    [
        pytest.param('test("(")', "missing ): (", id="an open group"),
        pytest.param('.a | test("a)"; "i")', "unexpected ): ", id="a group never opened"),
        pytest.param('[scan("[a")]', "missing ]: [a", id="an open class"),
        pytest.param('sub("a\\\\"; "b")', "trailing \\", id="an escape of nothing"),
        pytest.param('[splits("(?=a)")]', "invalid perl operator: (?=", id="a function that splits"),
        pytest.param('split("("; null)', "missing ): (", id="split by a pattern"),
        pytest.param('test(.a; "x")', "there is no flag x", id="flags with a computed pattern"),
        pytest.param('reduce .[] as $x (0; test("a*+"))', "bad repetition operator: *+", id="in what is bounded"),
    ],
)
def test_pattern_that_go_cannot_read_is_refused(text: str, slip: str) -> None:
    (refusal,) = judge(text).refusals
    assert slip in refusal.message


@rows(
    "text",
    [
        pytest.param('split("(")', id="a separator is not a pattern"),
        pytest.param("test(.a)", id="a computed pattern"),
        pytest.param("test(.a; .b)", id="computed flags"),
    ],
)
def test_possible_pattern_is_not_refused(text: str) -> None:
    assert judge(text).verdict is not Execution.REFUSED


# What is plain


@rows(
    "text",
    [
        ".spec.replicas // 1",
        ".spec.replicatedJobs[]?.template.spec.template",
        ".spec.replicatedJobs[] | (.replicas // 1) * (.template.spec.parallelism // 1)",
        "(.replicas // 1) * ([(.parallelism // 1), (.completions // empty)] | min)",
        '[.status.conditions[]? | select(.type == "Ready" and .status == "True")] | length > 0',
        'any(.status.conditions[]?; .type == "Failed" and .reason != "Evicted")',
        'if .spec.suspend then "Suspended" elif .status.active > 0 then "Running" else "Pending" end',
        'to_entries | map("\\(.key)=\\(.value)") | join(",")',
        'with_entries(select(.key | startswith("app.kubernetes.io/")))',
        '.metadata.name | test("^worker-[0-9]+$")',
        '.metadata.name | test("(a+)+$")',
        'gsub("(?<n>[0-9]+)"; "<\\(.n)>")',
        'map(gsub("[0-9]+"; "n"))',
        ".name | test(.) | not",
        ".metadata.labels | to_entries[] | {(.key): .value, n: 1}",
        "{spec, labels: (.metadata.labels | with_entries(select(.value)))}",
        "with_entries(select(.value)) + .more",
        ".a[] + (.b // 1 | numbers)",
        ".a[] > (.b // 1 | numbers)",
        ".a[] * (.b // 1)",
        'select(.type == ("A", "B"))',
        '.kind | IN("Job", "CronJob")',
        "[.spec.a.replicas, .spec.b.replicas] | map(. // 0) | add",
        ".a[] * .b",
        '.groups[] | "\\(.name)-\\(.tasks[].name)"',
        '.groups[] | "\\(.name // 0)-\\(.jobs[] | "\\(.name)-\\(.tasks[].name)")"',
        '.groups // {} | to_entries[] | "\\(.key)-\\(.value.tasks // {} | keys[])"',
        "(.a // {}) * (.b // {})",
        ".groups[] | {name: .name} * (.template // {})",
        'split(",")[] | split(":")[0]',
        'getpath(.paths[:8][] | split("."))',
        ".groups[] | {name, job: .jobs[:8][].name}",
        ".a[] + 1",
        ".a[.k]",
        ".a[][.k]",
        "[., .] | [., .]",
        "first(.a[], .b[])",
        "{a: 1, b: {c: .d[]}}",
        "-.a | tostring",
        '.["a", "b"]?',
        "group_by(.a) | map(length)",
        'if .replicas < 0 then error("fewer than no pods") else .replicas end',
    ],
)
def test_plain_expressions(text: str) -> None:
    assert judge(text) == Vetting(Execution.PLAIN)


@rows(
    ("text", "place", "construct", "reason"),
    [
        pytest.param("[.a] | . as $x | $x", ". as $x | $x", "as", "this process", id="a binding"),
        pytest.param("1 + reduce .[] as $x (0; 1)", "reduce .[] as $x (0; 1)", "reduce", "this process", id="reduce"),
        pytest.param("foreach .[] as $x (0; 1)", "foreach .[] as $x (0; 1)", "foreach", "this process", id="foreach"),
        pytest.param("[def f: 1; f]", "def f: 1; f", "def", "this process", id="a definition"),
        pytest.param("label $x | 1", "label $x | 1", "label", "this process", id="a label"),
        pytest.param("[$__loc__]", "$__loc__", "$__loc__", "this process", id="a variable"),
        pytest.param("try .a catch 1", "try .a catch 1", "catch", "this process", id="a handler"),
        pytest.param(".a | @base64", "@base64", "@base64", "this process", id="a format"),
        pytest.param('@uri "\\(.a)"', '@uri "\\(.a)"', "@uri", "this process", id="a formatted string"),
        pytest.param(".a | limit(1; .[])", "limit(1; .[])", "limit", "this process", id="another function"),
        pytest.param("until(true; .)", "until(true; .)", "until", "this process", id="a loop"),
        pytest.param('test("a"; .b)', 'test("a"; .b)', "test", "literal text", id="computed flags"),
        pytest.param("test(.a[])", "test(.a[])", "test", "repeats", id="a text once for every pattern"),
        pytest.param('sub("a"; .b[])', 'sub("a"; .b[])', "sub", "exactly one output", id="several replacements"),
        pytest.param(f'[match("{"(a)" * 13}"; "g")]', f'match("{"(a)" * 13}"; "g")', "match", "1024 times",
            id="many groups everywhere"),
        pytest.param("error(.a)", "error(.a)", "error", "literal text", id="a message that tells of the object"),
        pytest.param('error("\\(.a)")', 'error("\\(.a)")', "error", "literal text", id="a message with a part of it"),
        pytest.param("error(1)", "error(1)", "error", "literal text", id="a message that is not a text"),
        pytest.param(". | error", "error", "error", "this process", id="the object as the message"),
        pytest.param("1 | .a[] + .b[]", ".a[] + .b[]", "+", "every output of one", id="a square of outputs"),
        pytest.param("[.[] == .[]]", ".[] == .[]", "==", "every output of one", id="a square of comparisons"),
        pytest.param("{a: .a[], b: .b[]}", "{a: .a[], b: .b[]}", "{...}", "every output of one", id="two generators"),
        pytest.param('"\\(.a[])\\(.b[])"', '"\\(.a[])\\(.b[])"', '"..."', "every output of one", id="two in a string"),
        pytest.param('"\\(.a[])\\(.b | map(.c))"', '"\\(.a[])\\(.b | map(.c))"', '"..."', "repeats",
            id="a list in texts"),
        pytest.param('"\\(.a[])\\(.b, .c)"', '"\\(.a[])\\(.b, .c)"', '"..."', "repeats", id="two texts for each text"),
        pytest.param(".a[][.b[]]", ".a[][.b[]]", "[...]", "every output of one", id="a square of lookups"),
        pytest.param(".a[.b[]:]", ".a[.b[]:]", "[...:...]", "repeats", id="many slices of one value"),
        pytest.param(".a[.b[]]", ".a[.b[]]", "[...]", "repeats", id="many lookups of one large value"),
        pytest.param(".a[] + .b", ".a[] + .b", "+", "repeats", id="many copies of the other operand"),
        pytest.param(".a[] + (.b // 1)", ".a[] + (.b // 1)", "+", "repeats", id="what is there may be as large"),
        pytest.param(".a[] + (.b | scalars)", ".a[] + (.b | scalars)", "+", "repeats", id="and so may a text"),
        pytest.param(".a[] * (.b // {})", ".a[] * (.b // {})", "*", "repeats", id="many merges with a large object"),
        pytest.param("{a: .b[1:][], c}", "{a: .b[1:][], c}", "{...}", "repeats", id="a slice without an end"),
        pytest.param("{a: .b[-8:][], c}", "{a: .b[-8:][], c}", "{...}", "repeats", id="a slice up to the end"),
        pytest.param("{a: .b[:-1][], c}", "{a: .b[:-1][], c}", "{...}", "repeats",
            id="a slice up to an end of any size"),
        pytest.param("{a: .b[:600][], c}", "{a: .b[:600][], c}", "{...}", "1024 times",
            id="as often as a slice is long"),
        pytest.param("getpath(.paths[])", "getpath(.paths[])", "getpath", "repeats", id="many paths into one value"),
        pytest.param(".a[] - .b", ".a[] - .b", "-", "repeats", id="many differences with a large array"),
        pytest.param(".a[] == .b", ".a[] == .b", "==", "repeats", id="many comparisons with a large value"),
        pytest.param(".a[] and ([.b[]] | all)", ".a[] and ([.b[]] | all)", "and", "repeats", id="many evaluations"),
        pytest.param("{a: .a[], b: .}", "{a: .a[], b: .}", "{...}", "repeats", id="many objects around one value"),
        pytest.param("{a: .a[], b: with_entries(select(.value))}", "{a: .a[], b: with_entries(select(.value))}",
            "{...}", "repeats", id="what with_entries makes is one value, and large"),
        pytest.param("select(.a[])", "select(.a[])", "select", "repeats", id="the input once for every condition"),
        pytest.param("if .a[] then .b end", "if .a[] then .b end", "if", "repeats", id="a branch for every condition"),
        pytest.param("ltrimstr(.a[])", "ltrimstr(.a[])", "ltrimstr", "repeats", id="the input once for every argument"),
        pytest.param("IN(.a[])", "IN(.a[])", "IN", "compares", id="membership in a long list"),
        pytest.param("join(.a)", "join(.a)", "join", "separator", id="a separator of any size"),
        pytest.param("[.,.]" + "|[.,.]" * 10, "[.,.]" + "|[.,.]" * 10, "|", "1024 times", id="doubling"),
        pytest.param("(1,2,3,4)" + "*(1,2,3,4)" * 6, "(1,2,3,4)" + "*(1,2,3,4)" * 6, "*", "8192 steps", id="powers"),
        pytest.param(f'map("{"x" * 20_000}")', f'"{"x" * 20_000}"', '"..."', "1024 times",
            id="a long text for each element"),
        pytest.param("tojson" + "|tojson" * 4, "tojson" + "|tojson" * 4, "|", "1024 times", id="quotes of quotes"),
        pytest.param('split("")|map(split("")|map(split("")))', 'split("")|map(split("")|map(split("")))', "|",
            "1024 times", id="texts taken apart"),
    ],
)  # fmt: skip
def test_bounded_expressions_say_why(text: str, place: str, construct: str, reason: str) -> None:
    vetting = judge(text)
    assert vetting.verdict is Execution.BOUNDED
    note = next(note for note in vetting.notes if note.message.startswith(f"`{construct}` "))
    assert place.startswith(text[note.span.start : note.span.end])
    assert reason in note.message


def test_work_is_limited_even_where_nothing_grows() -> None:
    condition = " and ".join(['.a.b.c == "x"'] * 100)
    assert judge(f"[.[] | select({condition})]").verdict is Execution.PLAIN
    assert judge(f"if .a then {condition} elif .b then {condition} else {condition} end").verdict is Execution.PLAIN
    much = " or ".join(f"({condition})" for _ in range(32))
    (note,) = judge(f"[.[] | select({much})]").notes[:1]
    assert "8192 steps" in note.message


@rows("function", ['splits(", *")', 'scan("[a-z]+")'])
def test_parts_of_text_count_as_twice_the_text(function: str) -> None:
    (_, two), (_, three) = (examine(f"[{function}] | [{copies}]", frozenset()) for copies in ("., .", "., ., ."))
    assert three.steps - two.steps == 33, "a list, and two values for each of 16"


def test_refusals_come_before_notes() -> None:
    vetting = judge("reduce .[] as $x (0; made_up)")
    assert (vetting.verdict, vetting.notes) == (Execution.REFUSED, ())


def size(value: JSON) -> int:
    """As the rules of growth count it: values, and 16 characters of text as one more."""
    match value:
        case str():
            return 1 + len(value) // 16
        case list():
            return 1 + sum(map(size, value))
        case dict():
            return 1 + sum(len(key) // 16 + size(inner) for key, inner in value.items())
        case _:
            return 1


def outputs(node: Node, value: JSON) -> Iterator[JSON]:
    try:
        yield from islice(compile_many(node)(value), 100_000)
    except QueryEvaluationError:
        return


@pytest.mark.slow
@given(plain_expressions, objects)
def test_plain_expressions_compile_and_do_not_explode(node: Node, value: JSON) -> None:
    assume(vet(node).verdict is Execution.PLAIN)
    assert sum(map(size, outputs(node, value))) <= SIZE_LIMIT * size(value)


def test_deepest_trees_can_be_vetted() -> None:
    for text in (".a" * 199, "+".join(["1"] * 199), ",".join(["1"] * 199), "def f: .;" * 199 + "f"):
        judge(text)
