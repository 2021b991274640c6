"""Writers of batch kinds."""

from collections.abc import Callable, Mapping
from typing import Final

from karta_interpreter.base.k8s.values import Object

BATCH: Final[Mapping[str, Callable[[Object], Object]]] = {}
