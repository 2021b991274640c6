"""Evaluates all other expressions under limits: libjq in child processes that can be stopped.

This package holds the program of such a process (`libjq`), and its caller (`evaluation`).
"""
