"""A question to a script, and what came of it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from karta_interpreter.base.k8s.values import JSON, Object
from karta_interpreter.engine.operations import TargetComponent
from karta_interpreter.languages.lua.script import Script

_SHOWN = 1500


@dataclass(frozen=True, slots=True)
class Question:
    """One call of the scripts that answer an operation.

    ``object`` is whichever object the operation is about. No ``items`` are not the same as an empty list of them,
    which Karmada never sends but its cases have: to a script the one is nil, the other a table.
    """

    scripts: tuple[Script, ...]
    object: Object
    observed: Object | None = None
    replicas: int | None = None
    items: tuple[JSON, ...] | None = None
    components: Sequence[TargetComponent] | None = None
    """Only this project's machine knows their operation."""

    @property
    def operation(self) -> str:
        """The operation that is asked for."""
        return self.scripts[0].operation


@dataclass(frozen=True, slots=True)
class Outcome:
    """Results by Karmada's names, or the text of an error; a defect is an error that no engine should make."""

    results: Mapping[str, JSON] | None
    error: str = ""
    defect: bool = False

    def __str__(self) -> str:
        shown = self.error.partition("\nstack traceback")[0] or json.dumps(
            self.results, ensure_ascii=False, sort_keys=True
        )
        return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]} …"
