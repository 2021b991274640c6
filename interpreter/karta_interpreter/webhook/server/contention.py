"""Fights between Karmada and controllers of members, as this server sees them: both sides of each are in Retain."""

import base64
import re
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from math import inf
from typing import Final

import orjson
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from karta_interpreter.base.errors import InterpreterError
from karta_interpreter.base.k8s.fields import generation
from karta_interpreter.base.k8s.patch import patched
from karta_interpreter.base.k8s.values import JSON, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.engine.contention import (
    WINDOW,
    FieldDifference,
    Streak,
    Turn,
    advanced,
    differences,
    suggested_line,
)
from karta_interpreter.engine.operations import Operation
from karta_interpreter.webhook.server.lanes import is_large_body
from karta_interpreter.webhook.server.load import InterruptedWork
from karta_interpreter.webhook.server.log import log, redacted
from karta_interpreter.webhook.server.pending_call import SUCCESS, Answer, PendingCall
from karta_interpreter.webhook.wire import Request

_DESIRED, _SPEC, _OBSERVED = b'"object":', b'"spec":', b'"observedObject":'
# The keys of metadata as Go sorts them. No text of an object can have these bytes: its quotes are escaped.
_VERSION: Final = re.compile(rb'"resourceVersion":"([0-9A-Za-z]{1,40})","uid":"([0-9A-Za-z-]{1,64})"')

MEMORY: Final = 32 * 2**20
OBJECT_BYTES, STREAK_BYTES = 700, 900
"""Bytes of an object and of a streak with their containers."""
_PAUSE: Final = 1.0
"""Seconds between two looks at one object: several tries of one update fit in."""
_KNOWN_PAUSE: Final = 60.0
_SHARE: Final = 0.01
"""Of a processor, which is all that this may take; where calls need more, a part of them is looked at."""
_SAVED: Final = 100.0
"""Seconds of which the share is saved."""
_LARGEST: Final = 2**18
"""Bytes of a request that is looked at."""
_MOST_FIGHTS, _MOST_SERIES = 1000, 100
_MOST_MOVING: Final = 10_000
_OTHERS: Final = "others"


@dataclass(frozen=True, slots=True)
class Fight:
    """A field that Karmada and something in a member write in turns."""

    kind: str
    namespace: str
    name: str
    field: str
    ours: str
    """The value that Karmada writes, as people read it."""
    theirs: str
    """The value of the member, as people read it."""
    begin: float
    """In seconds since 1970, like ``last``."""
    last: float
    per_minute: float
    retain: str
    """The line of the annotation that would end it."""


@dataclass(slots=True)
class _RetainedObject:
    """What is remembered of an object: when Retain was asked about it, and about which version."""

    version: bytes
    at: float
    number: int = 1
    desired: int = 0
    """The hash of what Karmada wanted when differences were found: another one shows an edit."""
    looked: float = 0.0
    streaks: Mapping[str, Streak] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return OBJECT_BYTES + STREAK_BYTES * len(self.streaks)


class Contention(Collector):
    """The fights of the last ten minutes.

    The first question about an object is remembered by its uid. Where another version of it is asked about, what it has
    is compared with the answer, once a second at most. All of it takes a hundredth of a processor: time in which other
    programs have it does not count. ``clock``, ``now`` and ``spent`` return seconds, the last one of the processor.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        spent: Callable[[], float] = time.thread_time,
    ) -> None:
        self._clock, self._now, self._spent = clock, now, spent
        self.limited: Callable[[], AbstractContextManager[None]] = nullcontext
        """Interrupts the block when it takes long (`InterruptedWork`)."""
        self._objects = OrderedDict[bytes, _RetainedObject]()
        self._moving = set[tuple[str, str]]()
        """Namespace and name of objects in which a difference has come back."""
        self._bytes = 0
        self._free_at = -inf
        self._fights: dict[tuple[bytes, str], Fight] = {}

    def see(self, call: PendingCall, answer: Answer) -> None:
        """Take note of a call if it is one of Retain, and not a large one."""
        if (
            call.request.operation_name == Operation.RETAIN
            and call.definition
            and answer.code == SUCCESS
            and len(call.body) <= _LARGEST
        ):
            self.note(call.body, call.request, answer.body, call.definition if answer.is_inline else None)

    def note(self, body: bytes, request: Request, answer: bytes, definition: Definition | None) -> None:
        """Take note of a call of Retain; with a ``definition`` a line that ends the fight is looked for."""
        at, name = self._clock(), (request.namespace, request.name)
        # Where a fight may begin, each call is searched: only so does an edit show between two that are looked at.
        if at < self._free_at and name not in self._moving:
            return
        found = _VERSION.search(body, max(body.find(_OBSERVED), 0))
        if found is None:
            return
        version, key = found.groups()
        asked = self._objects.get(key)
        if asked is not None and asked.streaks and asked.desired != _hash_of_desired(body):
            self._forget(key)
            asked.streaks = {}
            self._keep(key, asked)
            self._moving.discard(name)
        if at < self._free_at:
            return
        before = self._spent()
        self._seen(body, at, key, _RetainedObject(version, at), request, answer, definition)
        # What is left of the share since the last call is saved for bursts.
        self._free_at = max(self._free_at, at - _SAVED) + (self._spent() - before) / _SHARE

    def _seen(
        self,
        body: bytes,
        at: float,
        key: bytes,
        new: _RetainedObject,
        request: Request,
        answer: bytes,
        definition: Definition | None,
    ) -> None:
        asked = self._objects.get(key)
        if asked is None or at - asked.at > WINDOW:
            self._forget(key)
            self._keep(key, new)
            return
        asked.at, is_new = at, asked.version != new.version
        self._objects.move_to_end(key)
        if not is_new:
            return
        asked.version, asked.number = new.version, asked.number + 1
        if at < asked.looked + _PAUSE or is_large_body(body):
            return
        asked.looked, asked.desired = at, _hash_of_desired(body)
        # What Karmada writes has none of these errors.
        with suppress(AttributeError, InterpreterError, LookupError, RecursionError, TypeError, ValueError):
            self._compare(key, asked, at, orjson.loads(body)["request"], answer, request, definition)

    def _compare(
        self,
        key: bytes,
        asked: _RetainedObject,
        at: float,
        pair: Object,
        answer: bytes,
        request: Request,
        definition: Definition | None,
    ) -> None:
        desired, observed = pair["object"], pair["observedObject"]
        found = differences(_retained(desired, answer), observed)
        if len(self._moving) >= _MOST_MOVING:  # of deleted objects
            self._moving.clear()
            self._objects.clear()
            self._bytes = 0
        self._forget(key)
        asked.streaks = advanced(asked.streaks, Turn(at, asked.number, generation(observed), found))
        self._keep(key, asked)
        come_back = any(streak.turns > 1 for streak in asked.streaks.values())
        (self._moving.add if come_back else self._moving.discard)((request.namespace, request.name))
        for difference in found:
            streak = asked.streaks[difference.field]
            if streak.is_fight and streak.last == at:
                asked.looked = at + _KNOWN_PAUSE  # the others need the time more
                self._fight(key, streak, difference, request, (definition, desired, observed))

    def _fight(
        self,
        key: bytes,
        streak: Streak,
        difference: FieldDifference,
        request: Request,
        tried: tuple[Definition | None, Object, Object],
    ) -> None:
        now, known = self._now(), self._current().get((key, difference.field))
        if known is None and len(self._fights) >= _MOST_FIGHTS:
            return
        kind = f"{request.gvk.api_version}/{request.gvk.kind}" if request.gvk else ""
        begin = now - (streak.last - streak.begin)
        line = known.retain if known else self._line(kind, difference, *tried)
        values = redacted(difference.field, difference.ours), redacted(difference.field, difference.theirs)
        identity = kind, request.namespace, request.name, difference.field
        fight = Fight(*identity, *values, begin, now, round(streak.per_minute, 1), line)
        self.add(key, fight)
        if known is None:
            log.warning(
                "Karmada and a controller of a member overwrite each other",
                kind=kind,
                object=f"{fight.namespace}/{fight.name}",
                field=fight.field,
                karmada=fight.ours,
                member=fight.theirs,
                begin=datetime.fromtimestamp(begin, UTC).isoformat(timespec="seconds"),
                per_minute=fight.per_minute,
                retain=line,
            )

    def _line(
        self, kind: str, difference: FieldDifference, definition: Definition | None, desired: Object, observed: Object
    ) -> str:
        # One object is tried for all of a kind.
        alike = (each for each in self._fights.values() if (each.kind, each.field) == (kind, difference.field))
        if other := next(alike, None):
            return other.retain
        try:
            with self.limited():
                return suggested_line(definition, desired, observed, difference) if definition else ""
        except InterruptedWork:
            return ""

    def add(self, key: bytes, fight: Fight) -> None:
        """Show a fight about the object with a uid, or what it has become."""
        self._fights[key, fight.field] = fight

    def fights(self) -> list[JSON]:
        """Return the present fights as documents, the latest first, a hundred at most."""
        found = sorted(self._current().values(), key=lambda fight: fight.begin, reverse=True)
        return [asdict(fight) for fight in found[:_MOST_SERIES]]

    def collect(self) -> Iterator[Metric]:
        """Yield the metric: objects by kind and field."""
        about = "Objects in which Karmada and a controller of a member overwrite each other's value of a field."
        metric = GaugeMetricFamily("karta_interpreter_contention", about, labels=("kind", "field", "retain"))
        fights = Counter((each.kind, each.field, each.retain) for each in self._current().values())
        for labels, number in fights.most_common(_MOST_SERIES):
            metric.add_metric(labels, number)
        if rest := fights.total() - sum(number for _, number in fights.most_common(_MOST_SERIES)):
            metric.add_metric((_OTHERS, _OTHERS, ""), rest)
        yield metric

    def _current(self) -> Mapping[tuple[bytes, str], Fight]:
        over = self._now() - WINDOW
        self._fights = {place: fight for place, fight in self._fights.items() if fight.last > over}
        return self._fights

    def _keep(self, key: bytes, asked: _RetainedObject) -> None:
        self._objects[key] = asked
        self._bytes += asked.size
        while self._bytes > MEMORY:
            self._bytes -= self._objects.popitem(last=False)[1].size

    def _forget(self, key: bytes) -> None:
        if asked := self._objects.pop(key, None):
            self._bytes -= asked.size


def _hash_of_desired(body: bytes) -> int:
    """The hash of the spec that Karmada wants; its metadata has the version of the member's object."""
    observed = body.find(_OBSERVED)
    return hash(body[body.find(_SPEC, body.find(_DESIRED), observed) : observed])


def _retained(desired: Object, answer: bytes) -> Object:
    """Return what Karmada makes of the answer."""
    patch = orjson.loads(answer)["response"].get("patch")
    return patched(desired, orjson.loads(base64.b64decode(patch))) if patch else desired
