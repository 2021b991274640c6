"""Evaluates all other expressions under limits: libjq in child processes that can be stopped.

Here belong the program of such a process (`libjq`), and the one that asks it (`evaluation`).
"""
