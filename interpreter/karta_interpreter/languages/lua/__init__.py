"""Scripts in Karmada's ResourceInterpreterCustomization format: read, linted, and run as Karmada runs them.

The only room that imports ``lupa``, and only in processes of its own: a script never runs in this one. Those processes
import this package, too, so it imports nothing itself: with the reading of scripts they take twice as long to start.
"""
