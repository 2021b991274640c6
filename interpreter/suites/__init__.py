"""Golden suites: Karmada's own test format for interpreters, read, run against a definition and reported.

A suite is a YAML file with one case per document (``thirdparty_test.go`` of Karmada). Here belong reading one,
running it and saying what came out differently; the answers themselves come from `interpreter.operations`.
"""

from interpreter.suites.report import render
from interpreter.suites.runner import Outcome, run
from interpreter.suites.suite import Case, find_suites, load_suite, read_suite

__all__ = ["Case", "Outcome", "find_suites", "load_suite", "read_suite", "render", "run"]
