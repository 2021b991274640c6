"""Where definitions come from, and the one immutable snapshot that all of them make.

The catalogue that is part of this package, folders given by the user, and the watch that keeps a running server in
step with them. What a definition means belongs to `interpreter.karta`, asking it to `interpreter.operations`.
"""
