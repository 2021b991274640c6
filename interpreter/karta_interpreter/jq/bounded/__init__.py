"""Evaluating all other expressions under limits: libjq in processes that can be stopped.

The only package that uses ``jq``. Only `child`, which such a process runs, loads it.
"""
