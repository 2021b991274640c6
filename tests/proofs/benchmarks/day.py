"""The calls of the recorded day of a fleet as a workload, about 200 objects and about many more."""

import random
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from tests.proofs.fleet.multiply import copied, object_of, objects_of
from tests.proofs.fleet.recording import calls
from tests.support.bodies import UID

_SEED, _HOUR = 7, 997
_ANSWERED: Final = b'"successful":true'
_UID: Final = re.compile(rb'"uid":"[^"]*"')
_REQUEST, _ANSWER = b'"request":', b',"answer":'
_IN_PODS: Final = b'"ReviseReplica"', b'"LeaderWorkerSet"'
"""Parts of calls with a share that was recorded in pods. It is none of groups, and is refused."""
_GVK: Final = re.compile(rb'"kind":\{"group":"([^"]*)","version":"([^"]*)","kind":"([^"]*)"\}')
_WORKLOAD: Final = (
    (
        b'"kind":{"group":"apps","version":"v1","kind":"Deployment"}',
        b'"kind":{"group":"workload.example.io","version":"v1alpha1","kind":"Workload"}',
    ),
    (b'"apiVersion":"apps/v1","kind":"Deployment"', b'"apiVersion":"workload.example.io/v1alpha1","kind":"Workload"'),
)
_WITH_SETTINGS: Final = (
    b'"containers":[{',
    b'"containers":[{"envFrom":[{"configMapRef":{"name":"training-settings"}}],',
)
"""The example ends if a container has no settings."""


@lru_cache(1)
def recorded() -> tuple[bytes, ...]:
    """Return the calls of the day that were answered, about objects that can be copied."""
    answered = (call for call in calls() if object_of(call) and _ANSWERED in call[call.rindex(_ANSWER) :])
    return tuple(call for call in answered if not all(part in call for part in _IN_PODS))


def about_workloads() -> tuple[bytes, ...]:
    """Return the calls about Deployments as calls about the one kind that Karmada's example knows: it is like them."""
    made = []
    for call in recorded():
        if gvk_of(call) == ("apps", "v1", "Deployment"):
            for old, new in _WORKLOAD:
                call = call.replace(old, new)  # noqa: PLW2901 - one after the other
            made.append(call if b'"envFrom"' in call else call.replace(*_WITH_SETTINGS))
    return tuple(made)


def gvk_of(call: bytes) -> tuple[str, str, str]:
    """Return the group, version and kind that a call is about."""
    found = _GVK.search(call)
    assert found
    group, version, kind = (part.decode() for part in found.groups())
    return group, version, kind


def operation_of(call: bytes) -> str:
    """Return the operation of a call."""
    return call.partition(b'"operation":"')[2].partition(b'"')[0].decode()


def by_operation(several: Sequence[bytes]) -> dict[str, list[bytes]]:
    """Return calls by their operation."""
    made: dict[str, list[bytes]] = {}
    for call in several:
        made.setdefault(operation_of(call), []).append(call)
    return dict(sorted(made.items()))


def sample(several: Sequence[bytes], objects: int, count: int, number: int) -> Iterator[bytes]:
    """Yield so many bodies of the calls about so many objects, in their order; another ``number`` has other objects.

    The first sample of as many objects as the day has is of the day itself.
    """
    die = random.Random(f"{_SEED} {objects} {number}")  # noqa: S311 - the same sample each time
    copies = max(1, objects // objects_of(several))
    chosen = [(die.randrange(len(several)), die.randrange(copies)) for _ in range(count)]
    # Each copy has its day at another hour: not all of them do the same at once.
    chosen.sort(key=lambda pair: (pair[0] + pair[1] * _HOUR) % len(several))
    for index, copy in chosen:
        place = number * copies + copy
        yield body(copied(several[index], place) if place else several[index])


def body(call: bytes) -> bytes:
    """Return the body of a recorded call as Karmada has sent it, with the uid that the load generator writes over."""
    text = call[call.index(_REQUEST) + len(_REQUEST) : call.rindex(_ANSWER)] + b"\n"
    return _UID.sub(b'"uid":"%b"' % UID.encode(), text, count=1)
