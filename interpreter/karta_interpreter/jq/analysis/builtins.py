"""The functions and formats that an expression may name."""

from collections.abc import Set as AbstractSet
from difflib import get_close_matches
from typing import Final, TypeAlias

Function: TypeAlias = tuple[str, int]
"""Name and number of arguments."""


def _functions(text: str) -> frozenset[Function]:
    pairs = (function.split("/") for function in text.split())
    return frozenset((name, int(arity)) for name, arity in pairs)


BUILTINS: Final = _functions("""
    abs/0 acos/0 acosh/0 add/0 add/1 all/0 all/1 all/2 any/0 any/1 any/2 arrays/0 ascii_downcase/0
    ascii_upcase/0 asin/0 asinh/0 atan/0 atan2/2 atanh/0 booleans/0 bsearch/1 builtins/0 capture/1
    capture/2 cbrt/0 ceil/0 combinations/0 combinations/1 contains/1 copysign/2 cos/0 cosh/0
    delpaths/1 drem/2 empty/0 endswith/1 erf/0 erfc/0 error/0 error/1 exp/0 exp10/0 exp2/0 explode/0
    expm1/0 fabs/0 fdim/2 finites/0 first/0 first/1 flatten/0 flatten/1 floor/0 fma/3 fmax/2 fmin/2
    fmod/2 format/1 frexp/0 from_entries/0 fromdate/0 fromdateiso8601/0 fromjson/0 fromstream/1
    gamma/0 getpath/1 gmtime/0 group_by/1 gsub/2 gsub/3 has/1 hypot/2 implode/0 in/1 IN/1 IN/2
    INDEX/1 index/1 INDEX/2 indices/1 infinite/0 inside/1 isempty/1 isfinite/0 isinfinite/0 isnan/0
    isnormal/0 iterables/0 j0/0 j1/0 jn/2 join/1 JOIN/2 JOIN/3 JOIN/4 keys/0 last/0 last/1 ldexp/2
    length/0 lgamma/0 limit/2 localtime/0 log/0 log10/0 log1p/0 log2/0 logb/0 ltrim/0 ltrimstr/1
    map/1 map_values/1 match/1 match/2 max/0 max_by/1 min/0 min_by/1 mktime/0 modf/0 nan/0
    nearbyint/0 nextafter/2 nexttoward/2 normals/0 not/0 now/0 nth/1 nth/2 nulls/0 numbers/0
    objects/0 path/1 pick/1 pow/2 remainder/2 reverse/0 rindex/1 rint/0 round/0 rtrim/0 rtrimstr/1
    scalars/0 scalb/2 scalbln/2 scan/1 scan/2 select/1 setpath/2 significand/0 sin/0 sinh/0 skip/2
    sort/0 sort_by/1 split/1 split/2 splits/1 splits/2 sqrt/0 startswith/1 strflocaltime/1
    strftime/1 strings/0 strptime/1 sub/2 sub/3 tan/0 tanh/0 test/1 test/2 tgamma/0 to_entries/0
    toboolean/0 todate/0 todateiso8601/0 tojson/0 tonumber/0 tostream/0 tostring/0 transpose/0
    trim/0 trimstr/1 trunc/0 truncate_stream/1 type/0 unique/0 unique_by/1 until/2 utf8bytelength/0
    values/0 while/2 with_entries/1 y0/0 y1/0 yn/2
""")
"""What both gojq 0.12.19 and jq 1.8 have, apart from what is forbidden.

From jq's own ``builtins``, and from ``internalFuncs`` of func.go and builtin.jq of gojq.
"""

ONLY_JQ: Final = _functions("""
    ascii/0 date/0 dateadd/2 datesub/2 get_jq_origin/0 get_prog_origin/0 have_decnum/0
    have_literal_numbers/0 keys_unsorted/0 leaf_paths/0 lgamma_r/0 toarray/0
""")
"""Functions of one jq or another that gojq 0.12.19 does not have."""

FORMATS: Final = frozenset(("text", "json", "html", "uri", "urid", "csv", "tsv", "sh", "base64", "base64d"))
"""The formats, without their ``@``, of both gojq and jq."""

_ENDLESS: Final = "its output may have no end or be very large"
_INPUT: Final = "an expression has one input, the object"
_OUTPUT: Final = "an expression has no other output than its results"
_FILES: Final = "an expression has no files and no modules"

FORBIDDEN: Final = {
    "del": "an expression only reads",
    **dict.fromkeys(("range", "paths", "recurse", "walk", "repeat"), _ENDLESS),
    **dict.fromkeys(("input", "inputs", "input_filename", "input_line_number"), _INPUT),
    **dict.fromkeys(("debug", "stderr", "halt", "halt_error"), _OUTPUT),
    **dict.fromkeys(("get_search_list", "modulemeta"), _FILES),
    "env": "an expression has no environment",
}
"""Functions that may not be called, with any number of arguments, and why.

The first six are Karta's own; the others reach out of the expression, or would stop the process.
"""


def is_known(function: Function, defined: AbstractSet[Function]) -> bool:
    """Whether a function is built in or among the ``defined`` ones."""
    return function in BUILTINS or function in defined


def arities(name: str, defined: AbstractSet[Function]) -> list[int]:
    """With how many arguments a name can be called."""
    return sorted(arity for known, arity in BUILTINS | defined if known == name)


def closest(name: str, defined: AbstractSet[Function]) -> str | None:
    """The known function with the most similar name."""
    names = sorted({known for known, _ in BUILTINS | defined})
    return next(iter(get_close_matches(name, names, n=1, cutoff=0.8)), None)
