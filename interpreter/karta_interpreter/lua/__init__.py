"""Scripts in Karmada's ResourceInterpreterCustomization format: read, linted, and run as Karmada runs them.

The only room that imports ``lupa``, and only in processes of its own: a script never runs in this one.
"""

from karta_interpreter.lua.reading import lints, without_linting

__all__ = ["lints", "without_linting"]
