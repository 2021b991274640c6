"""Drafts definitions from evidence: objects of a kind, and the pods that a member runs for them."""
