"""The definition language as schemas for others: the CRD for API servers, a JSON Schema for editors.

Both are made from the model, so what it says of a field is what they say; how they are made belongs here.
"""

from karta_interpreter.karta.publication.crd import custom_resource_definition
from karta_interpreter.karta.publication.json_schema import json_schema

__all__ = ["custom_resource_definition", "json_schema"]
