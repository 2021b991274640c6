"""Keeps Karmada's ResourceInterpreterWebhookConfiguration in step with the definitions in use.

`configuration` computes the object from plain values. `registrar` keeps the object on a Karmada control plane in step
with it.
"""
