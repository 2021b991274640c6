"""The operations of Karmada's resource interpreter, one module each, as pure functions.

An operation takes a definition and JSON values and returns JSON values: no clock, no I/O, no wire format. All it
raises is `InterpretationError`. Here belong the eight answers and what only they need; reading a definition belongs
to `karta_interpreter.karta`, the envelope to `karta_interpreter.wire`.
"""

from karta_interpreter.lua.operation import CHANGED, LIVE, SLOTS, Operation, Results, by_operation
from karta_interpreter.operations.call import DEFAULT_OPTIONS, Call, Options, StatusItem
from karta_interpreter.operations.interpretation import interpret

__all__ = [
    "CHANGED",
    "DEFAULT_OPTIONS",
    "LIVE",
    "SLOTS",
    "Call",
    "Operation",
    "Options",
    "Results",
    "StatusItem",
    "by_operation",
    "interpret",
]
