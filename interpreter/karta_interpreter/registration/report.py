"""Reports of the controllers that keep a control plane in step."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Report:
    """Something to log."""

    level: Literal["info", "warning", "error"]
    message: str
