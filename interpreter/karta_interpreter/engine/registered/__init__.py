"""Who interprets a kind: the operations that are registered for it, and the interpreters that Karmada asks."""
