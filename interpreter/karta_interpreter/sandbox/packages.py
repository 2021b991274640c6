"""How a Python program that this process starts finds the same packages."""

import os
import sys
from typing import Final

BARE: Final = (sys.executable, "-s", "-P")
"""The interpreter, looking for packages neither where it is started nor among a user's own."""


def environment() -> dict[str, str]:
    """An environment that names the packages of this process and nothing else.

    They may be anywhere: in an environment of their own, or where only ``PYTHONPATH`` names them.
    """
    return {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
