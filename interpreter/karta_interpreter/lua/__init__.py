"""Scripts in Karmada's ResourceInterpreterCustomization format: read, linted, and run as Karmada runs them.

The only room that imports ``lupa``, and only in processes of its own: a script never runs in this one.
"""

from karta_interpreter.lua.machine.worker import close_workers
from karta_interpreter.lua.reading import lints, without_linting

__all__ = ["close_workers", "lints", "without_linting"]
