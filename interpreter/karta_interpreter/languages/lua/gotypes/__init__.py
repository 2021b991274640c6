"""The results of a script, seen as the Go type that Karmada reads them into.

This package holds the declarations of those types, reading and writing them by the rules of ``encoding/json``, and the
scalars that Kubernetes reads in its own way.
"""
