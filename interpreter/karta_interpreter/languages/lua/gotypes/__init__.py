"""The results of a script, seen as the Go type that Karmada reads them into.

This package holds the declarations of those types, reading and writing them by the rules of ``encoding/json``, and the
scalars that Kubernetes reads in its own way.
"""

from karta_interpreter.languages.lua.gotypes.scalars import MismatchError
from karta_interpreter.languages.lua.gotypes.structs import declarations, decode, encode, rewrite

__all__ = ["MismatchError", "declarations", "decode", "encode", "rewrite"]
