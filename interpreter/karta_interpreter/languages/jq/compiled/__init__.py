"""Running plain expressions in this process: jq's values, operators and functions in Python.

`compiler` turns a syntax tree into Python, from top to bottom; `functions` has the record of each function of jq.
What the code calls is in `operators`, `collection`, `regex`, `values` and `variables`. `costs` bounds the size of an
expression's outputs, `singles` tells which have one output, `reads` marks the parts of the input that are read.
"""
