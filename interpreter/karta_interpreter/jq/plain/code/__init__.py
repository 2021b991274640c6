"""Writing a plain expression as Python source.

`module` holds the functions that an expression becomes, `writer` writes one of them, the others know the constructs.
"""
