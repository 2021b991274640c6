"""What Karmada may assign of the components of an object to one cluster."""

import random
from collections.abc import Iterator

from karta_interpreter.base.k8s.values import Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.evaluation.pods import pod_sets
from karta_interpreter.engine.operations import TargetComponent

Split = list[TargetComponent]


def splits_of(definition: Definition, obj: Object, several: int = 4) -> Iterator[Split]:
    """Yield the components as they are, in another order, none, one more, 2 and 50 times all, ``several`` at random.

    Then one more of each component alone. Raises InterpretationError for an object without an answer.
    """
    present = [TargetComponent(pods.name, pods.replicas) for pods in pod_sets(definition, obj)]
    chance = random.Random(definition.name)  # noqa: S311 - the same splits every time
    yield present
    yield present[::-1]
    yield [each._replace(replicas=0) for each in present]
    yield [each._replace(replicas=each.replicas + 1) for each in present]
    yield [each._replace(replicas=each.replicas * 2) for each in present]
    yield [each._replace(replicas=each.replicas * 50) for each in present]
    for _ in range(several):
        yield [each._replace(replicas=chance.randint(0, each.replicas + 3)) for each in present]
    for name, replicas in present if len(present) > 1 else ():
        yield [TargetComponent(name, replicas + 1) if each.name == name else each for each in present]
