"""Fights between Karmada and a controller of a member: found in a series of Retain's answers, and ended by a rule."""

from karta_interpreter.engine.contention.differences import FieldDifference, differences
from karta_interpreter.engine.contention.fights import Streak, Turn, advanced
from karta_interpreter.engine.contention.suggestion import suggested_line

__all__ = ["FieldDifference", "Streak", "Turn", "advanced", "differences", "suggested_line"]
