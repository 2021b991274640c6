"""How long the evaluation of expressions may still take."""

from typing import Final

from karta_interpreter.errors import QueryLimitError
from karta_interpreter.worker import deadline as work
from karta_interpreter.worker.deadline import deadline

__all__ = ["EXPRESSION_SECONDS", "deadline", "remaining"]

EXPRESSION_SECONDS: Final = 0.5
"""The longest that one expression may take, even where the deadline is later."""


def remaining() -> float:
    """The seconds that the next expression may take; QueryLimitError when there are none."""
    left = work.remaining(EXPRESSION_SECONDS)
    if not left:
        raise QueryLimitError("there is no time left")
    return left
