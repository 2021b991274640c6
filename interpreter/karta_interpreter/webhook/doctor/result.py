"""The result of a check, with advice."""

import os
from enum import StrEnum
from functools import partial

from msgspec import Struct

IS_IN_POD = "KUBERNETES_SERVICE_HOST" in os.environ  # then a Secret has the kubeconfig, and names of the host exist


class Level(StrEnum):
    """Severity. A problem keeps Karmada from its answers. A warning may do so, or will soon."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


class CheckResult(Struct, frozen=True):
    """One line of a diagnosis. ``advice`` is empty if nothing has to be done."""

    level: Level
    check: str
    found: str
    advice: str = ""


ok = partial(CheckResult, Level.OK)
warning = partial(CheckResult, Level.WARNING)
problem = partial(CheckResult, Level.PROBLEM)
