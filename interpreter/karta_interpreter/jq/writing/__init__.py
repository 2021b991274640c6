"""Writing through an expression: where its outputs come from, and how to change them there.

`trace` runs an expression so that it tells origins, `tracer` writes the Python for that, which calls `origin`. What can
be written is a `location`. `sources` is a quicker answer to a smaller question.
"""
