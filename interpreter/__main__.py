"""``python -m interpreter`` is ``karta-interpreter``."""

from interpreter.cli import main

main()
