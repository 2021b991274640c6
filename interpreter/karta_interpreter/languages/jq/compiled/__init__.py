"""Running plain expressions in this process: jq's values, operators and functions in Python.

`compiler` turns a syntax tree into Python, from top to bottom. `functions` has a record of each jq function. The code
calls `operators`, `collection`, `regex`, `values` and `variables`. `costs` bounds the size of an expression's outputs,
`singles` tells which expressions have one output, and `reads` marks the parts of the input that are read.
"""
