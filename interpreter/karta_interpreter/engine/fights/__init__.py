"""Fights between Karmada and another writer in a member: detected by who wrote the fields."""
