"""The console in the browser: the definitions in use, their answers on objects, and an editor for both.

The console is a small JSON API for one page (`interpreter/console`, built by `make console`). Here belong the HTTP
handlers, the guard in front of them, and the documents that the page shows. Answers are computed in child processes
(`karta_interpreter.base.sandbox`). ``serve`` imports nothing of it.
"""
