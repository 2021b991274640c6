"""Fights between Karmada and somebody in a member: known by who wrote the fields, and ended by a remedy."""
