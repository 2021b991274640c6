"""The console in the browser: an editor with answers and explanations, the catalogue, and the state of a server.

A small JSON API for one page (`interpreter/console`, built by `make console`). Here belong the HTTP handlers, the
guard in front of them, and the documents that the page shows. Answers are computed in child processes
(`karta_interpreter.sandbox`). `karta_interpreter.cli` imports it only when the console is used.
"""
