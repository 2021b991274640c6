"""The program of a worker process: it finds its packages, gives up what it does not need, and serves.

It is run as a script, by path, without the environment of the server. Its arguments are the folders of the packages.
"""

import resource
import sys
from typing import Final

_PROCESS_MEMORY: Final = 768 * 2**20


def main(folders: list[str]) -> None:
    """Answer requests until the other side is gone."""
    sys.path[:0] = folders
    from karta_interpreter.lua.machine.service import Service  # noqa: PLC0415 - not to be found before

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (_PROCESS_MEMORY, _PROCESS_MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    Service(sys.stdin.buffer, sys.stdout.buffer).serve()


if __name__ == "__main__":
    main(sys.argv[1:])
