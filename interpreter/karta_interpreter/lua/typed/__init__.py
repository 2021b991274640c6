"""What a script hands over, seen as the Go type that Karmada reads it into.

Here belong the declarations of those types, reading and writing them by the rules of ``encoding/json``, and the
scalars that Kubernetes reads in its own way.
"""

from karta_interpreter.lua.typed.fitting import fitter
from karta_interpreter.lua.typed.mismatch import MismatchError
from karta_interpreter.lua.typed.reading import decode
from karta_interpreter.lua.typed.requirements import Requirements
from karta_interpreter.lua.typed.writing import encode

__all__ = ["MismatchError", "Requirements", "decode", "encode", "fitter"]
