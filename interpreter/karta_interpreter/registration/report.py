"""What whoever keeps a control plane in step has to say."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Report:
    """Something to log."""

    level: Literal["info", "warning", "error"]
    message: str
