"""Scripts in Karmada's ResourceInterpreterCustomization format: read, judged and run as Karmada runs them.

The only room that imports ``lupa``.
"""
