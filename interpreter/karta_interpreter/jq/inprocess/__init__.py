"""Running plain expressions in this process: jq's values, operators and functions in Python.

`compilation` turns a tree into a function of Python, which `code` writes; the other modules are what that calls.
"""
