"""Which operations are registered with Karmada for a kind, and the description of a definition that shows them."""
