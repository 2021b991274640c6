"""Asks two interpreters the same questions: what differs between their answers, since when it is known, and its cause.

`change` has the one record of an answer that differs. `interpreter` asks, `questions` are the calls about an object,
`cause` and `known` give reasons, and `bindings` compares what a Karmada holds.
"""
