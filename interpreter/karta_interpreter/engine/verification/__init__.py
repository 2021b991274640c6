"""Compares the answers about a workload with the workload's pods in a member, its managers of fields and its CRD.

Each question has a module. A module takes a definition and the evidence, and yields judgements.
"""

from karta_interpreter.engine.verification.aggregation import judge_crd
from karta_interpreter.engine.verification.evidence import (
    Evidence,
    listed_object,
    owner_references,
    reads_of_evidence,
)
from karta_interpreter.engine.verification.judgement import Judgement, Question, Verdict
from karta_interpreter.engine.verification.report import Report, Result, verify_all
from karta_interpreter.engine.verification.verify import verify

__all__ = [
    "Evidence",
    "Judgement",
    "Question",
    "Report",
    "Result",
    "Verdict",
    "judge_crd",
    "listed_object",
    "owner_references",
    "reads_of_evidence",
    "verify",
    "verify_all",
]
