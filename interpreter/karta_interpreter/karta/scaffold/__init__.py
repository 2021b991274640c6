"""A first Karta for a kind, drafted from the OpenAPI schema of its CustomResourceDefinition.

A schema has shapes without meanings: a field that looks like a pod template is taken as one, a field called `replicas`
as a count. So a draft has notes for the points that a person has to check. The rules for these guesses are here.
"""

from karta_interpreter.karta.scaffold.draft import Draft, draft
from karta_interpreter.karta.scaffold.openapi import CustomKind

__all__ = ["CustomKind", "Draft", "draft"]
