"""Running plain expressions in this process: jq's values, operators and functions in Python.

`compiler` turns a syntax tree into a function of Python. `emitter`, on top of `choices`, `flow` and `writer`, writes
its code; `functions` has a record of each function of jq, which names the code to write in `calls` and what that calls.
`growth` and `costs` are how much an expression makes of its input, `reads` which parts of the input it reads.
"""
