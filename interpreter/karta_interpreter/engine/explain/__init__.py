"""Explains answers: the chain from an answer to the definition's expressions and the places in the object.

`explain` answers a call by `karta_interpreter.engine.operations`, calls the same functions for each step, and collects
their reads as facts. This package builds the chain. `karta_interpreter.cli` prints it.
"""

from karta_interpreter.engine.explain.explain import explain, outline
from karta_interpreter.engine.explain.explanation import OBSERVED, Explanation, Fact, InterpreterLayer, Place, path_of
from karta_interpreter.engine.explain.warnings import never_found, warnings_about, warnings_of

__all__ = [
    "OBSERVED",
    "Explanation",
    "Fact",
    "InterpreterLayer",
    "Place",
    "explain",
    "never_found",
    "outline",
    "path_of",
    "warnings_about",
    "warnings_of",
]
