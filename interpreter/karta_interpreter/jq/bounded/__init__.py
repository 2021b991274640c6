"""Evaluating all other expressions under limits: libjq in processes that can be stopped.

The only package that knows ``jq``, and only `child`, what such a process runs, loads it.
"""
