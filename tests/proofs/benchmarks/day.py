"""The recorded day of a fleet as a workload: its calls as they come, of 200 objects and of many more, cold and warm.

Both servers get as many calls a second, so that waking up costs both the same. A cold call is about an object that the
server has not seen, or about a state of it; a warm one has come before.
"""

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.proofs.benchmarks.comparison import FLOOR
from tests.proofs.benchmarks.field import Field
from tests.proofs.benchmarks.figures import Figures, summary
from tests.proofs.benchmarks.program import MeasurementError
from tests.proofs.benchmarks.report import Part, number, table
from tests.proofs.benchmarks.rounds import Effort
from tests.proofs.benchmarks.servers import Server
from tests.proofs.benchmarks.workload import UID
from tests.proofs.fleet.multiply import copied, object_of, objects_of
from tests.proofs.fleet.recording import calls

OBJECTS: Final = (200, 5_000, 20_000)
_OPERATIONS_OF: Final = 5_000
"""Of so many objects each operation is measured for itself, too."""
_CALLS: Final = {True: 3_000, False: 600}
"""How many calls are measured in a round: for the page, and for ratios."""
_SEED, _HOUR = 7, 997
_HEADS: Final = ("calls", "floor, CPU µs", "cold, CPU µs", "times the floor", "warm, CPU µs", "times the floor")
_ANSWERED: Final = b'"successful":true'
_UID: Final = re.compile(rb'"uid":"[^"]*"')
_REQUEST, _ANSWER = b'"request":', b',"answer":'


def day(field: Field, effort: Effort) -> Part:
    """Measure the calls of days, and each operation of one; gives the ratios of the floor to this server."""
    rows, ratios, said = [], dict[str, float](), []
    # Whoever asks about a kind first pays for its definition, and may come before a process for its script has started.
    with TemporaryDirectory(dir=field.folder) as folder, suppress(MeasurementError):
        files = _written(Path(folder), sample(_recorded(), OBJECTS[0], _CALLS[effort.whole], effort.rounds))
        _asked(field, field.ours, files)
    for objects in OBJECTS:
        name = f"{objects:,} objects"
        (floor, cold, warm), lost = _measured(field, effort, objects)
        if lost:
            said.append(f"{lost} of {effort.rounds} rounds of {name} had an error and do not count")
        rows.append(_row(name, floor, cold, warm))
        ratios |= {f"{FLOOR}day, {name}, cold": floor / cold, f"{FLOOR}day, {name}, warm": floor / warm}
        said.append(f"{number(cold)} and {number(warm)} µs at {name}")
    operations = sorted({_operation(call) for call in _recorded()}) if effort.whole else ()
    for operation in operations:
        costs, lost = _measured(field, effort, _OPERATIONS_OF, operation)
        rows.append(_row(f"{operation}, {lost} rounds with errors" if lost else operation, *costs))
    conclusion = f"A call of a fleet's day costs {', '.join(said)}, the first time and when it comes again."
    return Part({"day": table(_HEADS, rows)}, ratios, conclusions=(conclusion,))


def sample(recorded: Sequence[bytes], objects: int, count: int, number: int) -> Iterator[bytes]:
    """Yield so many bodies of the calls about so many objects, in their order; another ``number`` has other objects.

    The first sample of as many objects as the day has is of the day itself.
    """
    die = random.Random(f"{_SEED} {objects} {number}")  # noqa: S311 - the same sample each time
    copies = max(1, objects // objects_of(recorded))
    chosen = [(die.randrange(len(recorded)), die.randrange(copies)) for _ in range(count)]
    # Each copy has its day at another hour: not all of them do the same at once.
    chosen.sort(key=lambda pair: (pair[0] + pair[1] * _HOUR) % len(recorded))
    for index, copy in chosen:
        place = number * copies + copy
        yield body(copied(recorded[index], place) if place else recorded[index])


def body(call: bytes) -> bytes:
    """Return the body of a recorded call as Karmada has sent it, with the uid that the load generator writes over."""
    text = call[call.index(_REQUEST) + len(_REQUEST) : call.rindex(_ANSWER)] + b"\n"
    return _UID.sub(b'"uid":"%b"' % UID.encode(), text, count=1)


@lru_cache(1)
def _recorded() -> tuple[bytes, ...]:
    """Return the calls of the day that were answered, about objects that can be copied."""
    return tuple(call for call in calls() if object_of(call) and _ANSWERED in call[call.rindex(_ANSWER) :])


def _operation(call: bytes) -> str:
    return call.partition(b'"operation":"')[2].partition(b'"')[0].decode()


def _measured(
    field: Field, effort: Effort, objects: int, operation: str = ""
) -> tuple[tuple[float, float, float], int]:
    """Return the processor time of a call (the floor, this server cold and warm), and how many rounds had an error."""
    recorded = [call for call in _recorded() if not operation or _operation(call) == operation]
    figures = defaultdict[str, list[Figures]](list)
    for round_number in range(effort.rounds):
        with TemporaryDirectory(dir=field.folder) as folder, suppress(MeasurementError):
            made = sample(recorded, objects, _CALLS[effort.whole], round_number)
            files = _written(Path(folder), made)
            for name, server in (("floor", field.floor), ("cold", field.ours), ("warm", field.ours)):
                figures[name].append(_asked(field, server, files))
    if not figures["warm"]:
        raise MeasurementError("no round of the day was answered to its end")
    floor, cold, warm = (summary(figures[name]).cpu for name in ("floor", "cold", "warm"))
    return (floor, cold, warm), effort.rounds - len(figures["warm"])


def _asked(field: Field, server: Server, files: Sequence[Path]) -> Figures:
    return field.load.run(server, files, 0, requests=len(files), way="recorded")


def _written(folder: Path, bodies: Iterable[bytes]) -> list[Path]:
    files = []
    for place, text in enumerate(bodies):
        files.append(folder / str(place))
        files[-1].write_bytes(text)
    return files


def _row(name: str, floor: float, cold: float, warm: float) -> tuple[str, ...]:
    times = f"{cold / floor:.1f}", f"{warm / floor:.1f}"
    return name, number(floor), number(cold), times[0], number(warm), times[1]
