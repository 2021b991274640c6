"""Keeps Karmada's ResourceInterpreterWebhookConfiguration in step with the definitions in use.

`operations` and `configuration` compute the object from plain values. `registrar` keeps the object on a Karmada control
plane in step with it.
"""

from karta_interpreter.webhook.registration.configuration import NAME, Endpoint, left_out, webhook_configuration
from karta_interpreter.webhook.registration.operations import ServedKind, operations_for, served_kinds

__all__ = [
    "NAME",
    "Endpoint",
    "ServedKind",
    "left_out",
    "operations_for",
    "served_kinds",
    "webhook_configuration",
]
