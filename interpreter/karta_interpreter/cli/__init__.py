"""The command line: one module per command, what they print in `render`.

stdout is data, stderr is talk. Exit code 0 is fine, 1 means findings or something that failed, 2 wrong usage. A
command is imported when it runs, so that ``--help`` answers at once.
"""

from karta_interpreter.cli.program import program


def main() -> None:
    """Run the command line; never returns."""
    program(prog_name="karta-interpreter")
