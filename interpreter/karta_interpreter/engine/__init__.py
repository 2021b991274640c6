"""Answers: pure functions from a definition and objects to values."""
