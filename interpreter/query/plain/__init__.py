"""Running plain expressions in this process: jq's values, operators and functions in Python.

`compilation` turns a tree into a closure; the other modules are what closures are made of.
"""
