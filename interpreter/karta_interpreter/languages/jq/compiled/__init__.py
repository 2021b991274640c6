"""Running plain expressions in this process: jq's values, operators and functions in Python.

`compiler` turns a syntax tree into Python, from top to bottom: a `module` of functions, the lines and variables of each
one (`function_body`), and small pieces of text (`atoms`). `functions` has a record of each jq function. The code calls
`operators`, `collection`, `regex`, `values` and `variables`. `costs` bounds the size of an expression's outputs,
`singles` tells which expressions have one output, and `reads` marks the parts of the input that are read.
"""
