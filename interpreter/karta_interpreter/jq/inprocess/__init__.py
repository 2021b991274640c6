"""Running plain expressions in this process: jq's values, operators and functions in Python.

`compiler` turns a syntax tree into a function of Python. `emitter`, on top of `choices` and `writer`, writes
its code; `functions` has a record of each function of jq, which names the code to write in `calls` and what that calls.
`costs` computes the size of an expression's outputs, `reads` the parts of the input that it reads.
"""
