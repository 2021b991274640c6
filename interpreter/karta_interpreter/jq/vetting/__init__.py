"""What an expression may do, judged from its tree when it is loaded: nothing here runs one.

`refusals` knows what is not allowed, `scope` and `builtins` what exists, `patterns` which texts are no patterns,
`growth`, `calls` and `meter` how much an expression can produce; `verdict` puts them together.
"""
