"""One process that answers Karmada, and what keeps it reachable."""
