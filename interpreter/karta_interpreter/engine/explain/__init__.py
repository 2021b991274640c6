"""Explains answers: the chain from an answer to the definition's expressions and the places of the object.

`explain` answers a call by `karta_interpreter.engine.operations`, asks the same functions for each step, and collects
what they read as facts. Here belongs what an answer is made of; how it is printed belongs to `karta_interpreter.cli`.
"""

from karta_interpreter.engine.explain.explain import explain, outline
from karta_interpreter.engine.explain.explanation import Explanation, Fact, InterpreterLayer, Place
from karta_interpreter.engine.explain.missing import NO_PODS, warnings_about

__all__ = ["NO_PODS", "Explanation", "Fact", "InterpreterLayer", "Place", "explain", "outline", "warnings_about"]
