"""Checks definitions against the OpenAPI schema of their CustomResourceDefinition.

An expression is followed through the schema instead of through an object: what it may yield is a set of shapes. No
object is read here, and no expression runs.
"""

from karta_interpreter.definitions.openapi.check.check import check
from karta_interpreter.definitions.openapi.check.contradictions import contradictions

__all__ = ["check", "contradictions"]
