"""Drafts definitions from evidence: objects of a kind, and the pods that a member runs for them."""

from karta_interpreter.engine.drafting.drafting import MOST_PODS, draft_from

__all__ = ["MOST_PODS", "draft_from"]
