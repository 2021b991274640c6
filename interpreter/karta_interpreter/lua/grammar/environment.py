"""The names that a script finds when it starts."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

FORBIDDEN: Final = frozenset(
    (
        *("collectgarbage", "dofile", "getfenv", "getmetatable", "load", "loadfile", "loadstring", "module"),
        *("newproxy", "rawequal", "rawget", "rawset", "setfenv", "setmetatable"),
        *("string.dump", "string.gsub", "string.rep", "package.loadlib"),
    )
)
"""Functions that are there and only raise an error, as Karmada's ``luavm/lua.go`` and ``lifted/lua`` have it."""

LIBRARIES: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "math": frozenset(
            (
                *("abs", "acos", "asin", "atan", "atan2", "ceil", "cos", "cosh", "deg", "exp", "floor", "fmod"),
                *("frexp", "huge", "ldexp", "log", "log10", "max", "min", "mod", "modf", "pi", "pow", "rad"),
                *("random", "randomseed", "sin", "sinh", "sqrt", "tan", "tanh"),
            )
        ),
        "os": frozenset(("date", "time")),
        "package": frozenset(("loaded", "loaders", "loadlib", "preload")),
        "string": frozenset(
            (
                *("byte", "char", "dump", "find", "format", "gfind", "gmatch", "gsub", "len", "lower", "match"),
                *("rep", "reverse", "sub", "upper"),
            )
        ),
        "table": frozenset(("concat", "getn", "insert", "maxn", "remove", "sort")),
    }
)
"""The members of the libraries; ``io``, ``debug`` and ``coroutine`` are not there."""

MODULES: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        **LIBRARIES,
        "karta": frozenset(
            (
                *("aggregateStatus", "getComponents", "getDependencies", "getReplicas", "interpretHealth"),
                *("reflectStatus", "retain", "reviseReplica"),
            )
        ),
        "kube": frozenset(("accuratePodRequirements", "getPodDependencies", "getResourceQuantity", "resourceAdd")),
    }
)
"""What ``require`` finds, and the members of each; ``karta`` is this project's, the others are Karmada's as well."""

GLOBALS: Final = frozenset(
    (
        *("_G", "_VERSION", "assert", "error", "ipairs", "next", "pairs", "pcall", "print", "require", "select"),
        *("tonumber", "tostring", "type", "unpack", "xpcall"),
        *LIBRARIES,
        *(name for name in FORBIDDEN if "." not in name),
    )
)
"""Every global name."""
