# One expression of jq in each line. The large and deep ones are made in definitions.py.
# Without end.
[until(false; .)] | length
[range(1e9)] | length
last(range(1e12))
[limit(1e9; repeat(1))] | length
def f: f; f
[recurse(. + 1)] | length
reduce range(1e12) as $i (0; . + $i)
isempty(range(1e12) | empty)
last(foreach range(1e12) as $i (0; . + $i))
label $f | repeat(1) | select(. == 2) | break $f
first(range(1e12) | select(. < 0))
[while(true; . + 1)] | length
any(range(1e12); . < 0)
# Without end in memory or on the stack.
def f: 1 + f; f
def f: [f]; f
def f: "x" + f; f
def f: . + . | f; .spec.text | f
"x" * 1e9
[recurse([., .]; true)] | length
[range(1e9) | tostring] | add
.spec.text * 1e6 | length
[limit(1e8; repeat("x"))] | join("")
[range(0; 1e7) | {(tostring): .}] | add | length
# More work than it seems, in process as well.
[.spec.n[] + .spec.n[] + .spec.n[] + .spec.n[]] | length
[.spec.n[] as $a | .spec.n[] as $b | .spec.n[] as $c | .spec.n[] as $d | 1] | length
[.spec.n[] | [.] | . + . | . + . | . + . | . + . | . + .] | length
[.spec.n | combinations(4)] | length
.spec.n | map(tostring) | join(.[0])
.spec.text | split("") | map(split("")) | length
.spec.text | [splits("a")] | length
.spec.n | group_by(.) | map(group_by(.)) | length
[.spec.n[] | tojson | fromjson] | length
[paths] | length
[..] | length
[.. | ..] | length
[.. | .. | ..] | length
[.. | tostring] | join("")
[.spec.n[] | tostring] | map(. + "\(.)\(.)") | add | length
.spec.text | explode | map([.] | implode) | add
[range(1e6)] | sort_by(-.) | group_by(. % 7) | length
[range(2e5) | tostring] | unique_by(length) | length
# Patterns.
.spec.text | test("(a+)+$")
.spec.text | test("(a|aa)+b")
.spec.text | test("(.*)*(.*)*(.*)*b")
.spec.text | [match("a*"; "g")] | length
.spec.text | gsub("(?<x>a)"; "\(.x)\(.x)\(.x)")
.spec.text | [scan("(?=a)|a")] | length
.spec.text | test(.spec.text)
.spec.text | ascii_downcase | test(.)
# What an expression may not do.
input
inputs
env
$ENV
$ENV["PATH"]
debug
stderr
halt
halt_error
input_filename
import "a" as a; 1
include "a"; 1
"/etc/passwd" | input_line_number
getpath(["a"]) |= 1
now
$__loc__
get_search_list
modulemeta
builtins | length
@sh
ltrimstr(1)
limit(-1; .)
error(.spec.text)
error([range(1e6)])
error({a: .spec})
error(null)
1 / 0
1 % 0
[][-1e18]
.[1e18:]
nan < nan
"\ud800"
"\u0000" + .
infinite | tostring
[infinite] | .[0:infinite]
pow(10; 1e9)
1e1000 | floor
strptime("%Y")
mktime
todate
splits(null)
ascii(-1)
implode
[1e9] | implode
[-1] | implode
getpath([range(1e5) | tostring])
[limit(1e6; .spec | recurse)] | length
tojson * 100000
@base64 | @base64d
