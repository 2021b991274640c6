"""Finds out why Karmada does not get its answers, by checks of all from the registration to the server.

Modules check one thing each in what was read, and do no I/O; except `connection`, which opens connections, and the two
that run the checks in order, `endpoint` and `runner`.
"""

from karta_interpreter.webhook.doctor.result import CheckResult, Level
from karta_interpreter.webhook.doctor.runner import examine

__all__ = ["CheckResult", "Level", "examine"]
