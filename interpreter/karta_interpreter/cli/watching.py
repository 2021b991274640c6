"""Commands that run again when a file changes: the option ``--watch``."""

from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import Any

import click

from karta_interpreter.base.errors import InterpreterError
from karta_interpreter.cli.program import Problem, UsageProblem
from karta_interpreter.cli.writing import say


def watch(command: Callable[..., None]) -> Callable[..., None]:
    """Add ``--watch`` to a command. Its arguments ``paths``, ``filenames`` and ``crd`` hold the files."""

    @wraps(command)
    def watching(*, is_watched: bool, **given: Any) -> None:  # noqa: ANN401 - what click gives
        if not is_watched:
            command(**given)
            return
        for _ in _changes(_files(given)):
            _run(command, given)

    text = "Run again whenever a file changes, until Ctrl-C."
    return click.option("--watch", "is_watched", is_flag=True, help=text)(watching)


def _files(given: dict[str, Any]) -> list[Path]:
    named = [str(path) for name in ("paths", "filenames", "crd") for path in given.get(name, ())] or ["."]
    found = [Path(each) for each in named if "://" not in each and Path(each).exists()]
    if not found:
        raise UsageProblem("error: --watch needs a file or folder that is there")
    return found


def _changes(files: list[Path]) -> Iterator[None]:
    """Yield once, and again after each change."""
    from watchfiles import watch as changes  # noqa: PLC0415 - of the extra [server], and only for this option

    # An editor may put another file in the place of one, so its folder is watched.
    folders = {path if path.is_dir() else path.absolute().parent for path in files}
    watched = changes(*folders, raise_interrupt=False, yield_on_timeout=True, rust_timeout=50, recursive=True)
    next(watched)  # from now on no change is missed
    yield
    for changed in watched:
        if names := sorted({Path(name).name for _, name in changed}):
            say(f"\n{', '.join(names)} changed", err=True)
            yield


def _run(command: Callable[..., None], given: dict[str, Any]) -> None:
    """Run a command. Its failure does not end the program."""
    try:
        command(**given)
    except InterpreterError as error:
        Problem(f"error: {error}").show()
    except click.ClickException as error:
        error.show()
    except SystemExit:
        pass
