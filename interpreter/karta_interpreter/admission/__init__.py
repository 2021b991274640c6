"""Kubernetes admission of Kartas: what may be stored on the API server, and the labels that are stamped on it.

Here belongs everything about an ``AdmissionReview`` and what users read in its answer; whether a definition is
right is decided in `karta_interpreter.karta`, and HTTP is in `karta_interpreter.server`.
"""

from karta_interpreter.admission.admission import Subject, mutate, subject, unjudged, validate
from karta_interpreter.admission.review import read

__all__ = ["Subject", "mutate", "read", "subject", "unjudged", "validate"]
