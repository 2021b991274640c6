"""What a server shares with another listener of its process, which the composition of `serve` adds to it."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from karta_interpreter.operations import Options
from karta_interpreter.server.health import Readiness
from karta_interpreter.server.metrics import Metrics
from karta_interpreter.server.settings import Settings
from karta_interpreter.server.tls import Tls
from karta_interpreter.sources.store import Store

if TYPE_CHECKING:
    from karta_interpreter.server.control_plane import ControlPlane


@dataclass(frozen=True, slots=True)
class Shared:
    """The parts of a running server; ``tls`` is None for plain HTTP, ``control_plane`` where there is none."""

    settings: Settings
    store: Store
    options: Options
    readiness: Readiness
    metrics: Metrics
    tls: Tls | None
    control_plane: "ControlPlane | None"


Beside: TypeAlias = Callable[[Shared], AbstractAsyncContextManager[object]]
"""Serves something else in a block, from after the server listens to before it stops; raises ServeError."""
