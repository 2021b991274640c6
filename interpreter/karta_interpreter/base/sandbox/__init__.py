"""The one way to run work that nothing inside a process can stop: child processes with limits and deadlines.

A `Program` runs in children of its own, which a `Pool` starts, shares among owners, and kills.
"""

from karta_interpreter.base.sandbox.deadline import deadline, remaining
from karta_interpreter.base.sandbox.pool import Pool, close_pools
from karta_interpreter.base.sandbox.process import Process, Program

__all__ = ["Pool", "Process", "Program", "close_pools", "deadline", "remaining"]
