"""Golden suites: Karmada's own test format for interpreters, read, run against a definition and compared.

A suite is a YAML file with one case per document (``thirdparty_test.go`` of Karmada). Here belong reading one,
running it and saying what came out differently; the answers themselves come from `karta_interpreter.operations`.
"""

from karta_interpreter.suites.report import Outcome, Report, Totals, by_kind, judge, judge_refusal, run
from karta_interpreter.suites.suite import Case, find_suites, home_of, load_suite, read_suite

__all__ = [
    "Case",
    "Outcome",
    "Report",
    "Totals",
    "by_kind",
    "find_suites",
    "home_of",
    "judge",
    "judge_refusal",
    "load_suite",
    "read_suite",
    "run",
]
