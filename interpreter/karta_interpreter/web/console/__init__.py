"""Views of the definitions in use: the console in the browser, and the workload types API for other programs.

The console is a small JSON API for one page (`interpreter/console`, built by `make console`). Here belong the HTTP
handlers, the guard in front of them, and the documents that the page shows. Answers are computed in child processes
(`karta_interpreter.base.sandbox`). ``serve`` imports nothing of it unless a setting asks for it.
"""
