"""Drafts definitions from evidence: objects of a kind, and the pods that a member runs for them."""

from karta_interpreter.engine.drafting.drafting import draft_from

__all__ = ["draft_from"]
