"""Text and tree: what an expression of jq 1.7 looks like, read and printed.

The grammar stands in layers: `lexer` and `cursor`, then `patterns`, `blocks`, `terms` and `parser`, each using the
ones before it. `syntax` is the tree; `printer` turns it back into text.
"""
