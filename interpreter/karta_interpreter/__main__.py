"""``python -m karta_interpreter`` is ``karta-interpreter``."""

from karta_interpreter.cli import main

main()
