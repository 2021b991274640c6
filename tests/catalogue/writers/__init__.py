"""What writers do that a patch cannot say, as functions of an object, by their names in the tables."""

from collections.abc import Callable, Mapping
from typing import Final

from karta_interpreter.base.k8s.values import Object
from tests.catalogue.writers.oracles_batch import BATCH
from tests.catalogue.writers.oracles_serving import SERVING

ORACLES: Final[Mapping[str, Callable[[Object], Object]]] = {**BATCH, **SERVING}
