"""The operations of Karmada's resource interpreter, one module each, as pure functions.

An operation takes a definition and JSON values and returns JSON values: no clock, no I/O, no wire format. All it
raises is `InterpretationError`. Here belong the eight answers and what only they need; reading a definition belongs
to `interpreter.karta`, the envelope to `interpreter.protocol`.
"""

from interpreter.operations.call import DEFAULT_OPTIONS, Call, Operation, Options, Results, StatusItem
from interpreter.operations.interpretation import interpret

__all__ = ["DEFAULT_OPTIONS", "Call", "Operation", "Options", "Results", "StatusItem", "interpret"]
