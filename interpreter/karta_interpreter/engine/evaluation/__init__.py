"""Evaluates a definition on an object: its pod sets, counts, pod templates and status."""
