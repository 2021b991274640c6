"""Fights between Karmada and somebody in a member, as this server sees them: Retain has both sides of each fight."""

import base64
import re
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import UTC, datetime
from math import inf
from typing import Final

import orjson
from msgspec import Struct
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s import JSON, NOTHING, annotation, patched
from karta_interpreter.base.rate_limit import Clock
from karta_interpreter.engine.fights.rounds import Comparison, FieldDifference, advanced, compared, retain_line
from karta_interpreter.engine.operations import Operation
from karta_interpreter.webhook.answering.lanes import OBSERVED_KEY, is_large_body
from karta_interpreter.webhook.answering.load import InterruptedWork
from karta_interpreter.webhook.answering.pending_call import OF_CONTENT, SUCCESS, Answer, PendingCall
from karta_interpreter.webhook.log import log

_RETAIN: Final = Operation.RETAIN.value
# The keys of metadata as Go sorts them. No text of an object can have these bytes: its quotes are escaped.
_UID: Final = re.compile(rb'"resourceVersion":"[0-9A-Za-z]{1,40}","uid":"([0-9A-Za-z-]{1,64})"')

MOST_OBJECTS: Final = 40_000
"""The most objects with rounds that are remembered, of 400 bytes each at most."""
_PAUSE: Final = 60.0
"""Seconds between two checks of an object with a fight, which leave the time to the other objects."""
_SHARE: Final = 0.01
"""The share of a processor that this may take. If calls need more, only some of them are looked at."""
_SAVED: Final = 10.0
"""The share can be saved up for this many seconds."""
_SHORTEST: Final = 600.0
"""The least seconds that a fight goes on after its last round: Karmada tries an update again at least that often."""
_LARGEST: Final = 2**18
"""The most bytes of a request that is looked at."""
_MOST_FIGHTS, _MOST_SERIES, _MOST_FIELDS, _LONGEST = 1000, 100, 20, 256
_OTHERS, _UNKNOWN = "others", "unknown"


class Fight(Struct, frozen=True):
    """A field that Karmada and a manager in a member write in turns. A manager that removes the field is unknown.

    ``ours`` and ``theirs`` are the values of Karmada and of the member in readable form. ``others`` are the other
    fields in which both sides differ, whatever the reason. Times are in seconds since 1970. A fight is over at its
    ``end``, unless there is another round. ``retain`` is the line of the annotation that would end it, "" if a script
    answers.
    """

    kind: str
    cluster: str
    namespace: str
    name: str
    field: str
    ours: str
    theirs: str
    manager: str
    others: tuple[str, ...]
    begin: float
    last: float
    end: float
    retain: str


class Fights(Collector):
    """The present fights.

    Only objects with a field that somebody else has written or removed are remembered, by their uids. All of it takes a
    hundredth of a processor. Time in which other programs have the processor does not count. ``clock``, ``now`` and
    ``spent`` return seconds. ``spent`` counts processor time.
    """

    def __init__(
        self,
        clock: Clock = time.monotonic,
        now: Clock = time.time,
        spent: Clock = time.thread_time,
    ) -> None:
        self._clock, self._now, self._spent = clock, now, spent
        self.limited: Callable[[], AbstractContextManager[None]] = nullcontext
        """Interrupts the block if it takes long (`InterruptedWork`)."""
        self._rounds = OrderedDict[bytes, bytes]()
        self._free_at = -inf
        self.present: dict[bytes, dict[str, Fight]] = {}
        """By the uids of the objects, and by their fields."""

    def see(self, call: PendingCall, answer: Answer) -> None:
        """Take note of a call of Retain, unless it is large."""
        if call.request.operation_name != _RETAIN or not call.definition or answer.code != SUCCESS:
            return
        at, body = self._clock(), call.body
        if at < self._free_at or len(body) > _LARGEST:
            return
        before = self._spent()
        # Searching for bytes takes a tenth of the time that searching for a pattern takes.
        begin = body.find(b'"resourceVersion":"', max(body.find(OBSERVED_KEY), 0))
        match = _UID.search(body, begin) if begin >= 0 else None
        fights = self.present.get(match[1], {}).values() if match else ()
        is_paused = any(self._now() < fight.last + _PAUSE for fight in fights)
        if match and not is_paused and not is_large_body(body):
            with suppress(*OF_CONTENT, InterruptedWork):
                self._look(match[1], call, answer)
        # The unused share since the last call is saved for bursts.
        self._free_at = max(self._free_at, at - _SAVED) + (self._spent() - before) / _SHARE

    def _look(self, uid: bytes, call: PendingCall, answer: Answer) -> None:
        """Compare both sides, and remember the rounds of the fields that differ."""
        now = self._now()
        with self.limited():
            decoded = orjson.loads(call.body)["request"]
            desired, observed = decoded["object"], decoded["observedObject"]
            # The object that Karmada makes of the answer.
            patch = orjson.loads(answer.body)["response"].get("patch")
            retained = patched(desired, orjson.loads(base64.b64decode(patch))) if patch else desired
            comparison = compared(retained, observed)
            if comparison is None:
                return
            rounds, fought = advanced(self._rounds.get(uid, b""), comparison, int(now))
        self._rounds.pop(uid, None)
        if rounds:
            self._rounds[uid] = rounds
        if len(self._rounds) > MOST_OBJECTS:
            self._rounds.popitem(last=False)
        if fought:
            cluster = (annotation(observed, "work.karmada.io/namespace") or "").removeprefix("karmada-es-")[:_LONGEST]
            self._enter(uid, call, cluster, comparison, fought, now)

    def _enter(
        self,
        uid: bytes,
        call: PendingCall,
        cluster: str,
        comparison: Comparison,
        fought: Sequence[tuple[FieldDifference, float]],
        now: float,
    ) -> None:
        """Enter the fights of an object: those that are known, and as many others as there is room for."""
        request, free = call.request, _MOST_FIGHTS - len(self.current())
        has_script = call.definition is not None and bool(call.definition.scripts.of(_RETAIN))
        kind = f"{request.gvk.api_version}/{request.gvk.kind}" if request.gvk else ""
        fields = dict.fromkeys(difference.field for difference in comparison.differences)
        before = self.present.get(uid, {})
        begun = [pair for pair in fought if pair[0].field not in before][:free]
        for difference, begin in [*(pair for pair in fought if pair[0].field in before), *begun]:
            field, writer = difference.field, difference.writer
            known = before.get(field)
            fight = Fight(
                kind=kind,
                cluster=cluster,
                namespace=request.namespace,
                name=request.name,
                field=field,
                ours=shown(difference.ours),
                theirs=shown(difference.theirs),
                manager=writer.manager if writer else _UNKNOWN,
                others=(*(other for other in fields if other != field),)[:_MOST_FIELDS],
                begin=known.begin if known else begin,
                last=now,
                end=now + max(_SHORTEST, now - begin),
                retain="" if has_script else retain_line(difference),
            )
            self.present.setdefault(uid, {})[field] = fight
            if not known:
                log.warning(
                    "Karmada and a manager in a member overwrite each other",
                    kind=fight.kind,
                    cluster=fight.cluster,
                    object=f"{fight.namespace}/{fight.name}",
                    field=fight.field,
                    karmada=fight.ours,
                    member=fight.theirs,
                    manager=fight.manager,
                    others=fight.others,
                    begin=datetime.fromtimestamp(fight.begin, UTC).isoformat(timespec="seconds"),
                    retain=fight.retain,
                )

    def collect(self) -> Iterator[Metric]:
        """Yield the metric: objects by kind, field, cluster and manager."""
        description = "Objects in which Karmada and a manager in a member overwrite each other's value of a field."
        names = "kind", "field", "cluster", "manager", "retain"
        metric = GaugeMetricFamily("karta_interpreter_fights", description, labels=names)
        fights = Counter(tuple(getattr(fight, name) for name in names) for fight in self.current())
        shown = fights.most_common(_MOST_SERIES)
        for labels, number in shown:
            metric.add_metric(labels, number)
        if unnamed := fights.total() - sum(number for _, number in shown):
            metric.add_metric((_OTHERS, _OTHERS, "", "", ""), unnamed)
        yield metric

    def current(self) -> list[Fight]:
        """Return the present fights."""
        now = self._now()
        present = {
            uid: {owned: fight for owned, fight in fights.items() if fight.end > now}
            for uid, fights in self.present.items()
        }
        self.present = {uid: fights for uid, fights in present.items() if fights}
        return [fight for fights in self.present.values() for fight in fights.values()]


def shown(value: JSON) -> str:
    """Return a value for the log. Of an object, a list or a text it is only the size.

    >>> shown(3), shown("s3cr3t"), shown([{}])
    ('3', 'a text of 6 characters', 'a list of 1 element')
    """
    match value:
        case dict():
            return f"an object of {count(len(value), 'field')}"
        case list():
            return f"a list of {count(len(value), 'element')}"
        case str():
            return f"a text of {count(len(value), 'character')}"
    return "no value" if value is NOTHING else orjson.dumps(value).decode()
