"""Writing through an expression: where its outputs come from, and how to change them there."""
