"""Where definitions come from, and the one immutable snapshot that all of them make.

The catalogue that is part of this package, folders given by the user, the Kartas of a cluster, and the watches that
keep a running server in step with them. The client of an API server is here, too. The meaning of a definition belongs
to `karta_interpreter.definitions.karta`, asking it to `karta_interpreter.engine.operations`.
"""
