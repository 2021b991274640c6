"""The settings of a workload types API that its user can choose."""

from dataclasses import dataclass
from pathlib import Path

from karta_interpreter.webhook.settings import DefinitionSettings


@dataclass(frozen=True)
class TypesSettings(DefinitionSettings):
    """The settings of one API. `karta_interpreter.cli.types_api` has a line about each, except the last two.

    Types are stored on the cluster or in ``types_folder``. Tokens are in ``types_token_file``. Without one the cluster
    decides about them. Priorities are written as ``NAME=VALUE``. An address may send ``rate`` requests in a minute.
    Judging a body may take ``judge_seconds``, twice the time of a call, because a body has several Kartas.
    """

    port: int = 8444
    types_folder: Path | None = None
    types_token_file: Path | None = None
    types_categories: tuple[str, ...] = ("Build", "Train", "Deploy")
    types_priorities: tuple[str, ...] = (
        "very-low=25",
        "low=40",
        "medium-low=65",
        "medium=80",
        "medium-high=90",
        "high=125",
        "very-high=150",
    )
    rate: int = 600
    judge_seconds: float = 5.0
