"""A first Karta for a kind, drafted from the OpenAPI schema of its CustomResourceDefinition.

A schema tells shapes, not meanings: what looks like a pod template is one, what is called `replicas` counts. So a
draft has notes that say what a person has to check, and how guesses are made belongs here.
"""

from karta_interpreter.karta.scaffold.draft import Draft, draft
from karta_interpreter.karta.scaffold.openapi import CustomKind

__all__ = ["CustomKind", "Draft", "draft"]
