"""Karta definitions as answers to Karmada's resource interpreter."""

__version__ = "0.1.0"
