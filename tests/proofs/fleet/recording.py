"""The recording of a day: the lines of all servers in the order of their times, packed closer than a server does."""

import gzip
import lzma
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from karta_interpreter.base.files import sealed
from karta_interpreter.engine.operations import DEFAULT_OPTIONS
from karta_interpreter.webhook.wire.recording import file_name, files_in, head

DAY = Path(__file__).with_name("day.jsonl.xz")
_PRESET = 9
_SHARE = 0.1
"""By how much the share of an operation may differ from one day to another."""


class Line(NamedTuple):
    """A call of a recording: when, what was asked and what was answered, as JSON values."""

    time: float
    request: dict[str, Any]
    answer: dict[str, Any]

    @property
    def operation(self) -> str:
        operation: str = self.request["operation"]
        return operation

    @property
    def kind(self) -> str:
        kind = self.request["kind"]
        return f"{kind['group']}/{kind['version']} {kind['kind']}"


def pack(folders: Iterable[Path], target: Path) -> None:
    """Write the recordings of servers into one file, in the order of the times."""
    lines: list[bytes] = []
    for path in (path for folder in folders for path in files_in(folder)):
        with gzip.open(path) as file:
            lines += [*file][1:]
    lines.sort(key=lambda text: orjson.loads(text)["time"])
    with lzma.open(target, "wb", preset=_PRESET) as packed:
        packed.writelines(lines)


def calls(source: Path = DAY) -> Iterator[bytes]:
    """Yield the lines of a packed recording, each a call."""
    with lzma.open(source) as packed:
        yield from packed


def written(folder: Path, lines: Iterable[bytes]) -> Path:
    """Write calls as a server does, for ``replay``; return the file."""
    target = folder / file_name("20260101T000000Z", 1)
    with gzip.open(target, "wb", compresslevel=1) as file:
        file.write(head(DEFAULT_OPTIONS))
        file.writelines(sealed(text.strip()) + b"\n" for text in lines)
    return target


def read(source: Path = DAY) -> Iterator[Line]:
    for text in calls(source):
        line = orjson.loads(text)
        yield Line(line["time"], line["request"]["request"], line["answer"]["response"])


@dataclass(frozen=True)
class Summary:
    """What two recordings of the same day have in common: the calls by kind and operation."""

    calls: Counter[tuple[str, str]]

    @classmethod
    def of(cls, lines: Iterable[Line]) -> "Summary":
        return cls(Counter((line.kind, line.operation) for line in lines))

    @property
    def shares(self) -> dict[str, float]:
        found = Counter[str]()
        for (_, operation), count in self.calls.items():
            found[operation] += count
        return {operation: count / found.total() for operation, count in sorted(found.items())}

    def lines(self) -> Iterator[str]:
        kinds = Counter[str]()
        for (kind, _), count in self.calls.items():
            kinds[kind] += count
        yield f"{self.calls.total()} calls about {len(kinds)} kinds"
        yield from (f"{count:>8}  {kind}" for kind, count in kinds.most_common())
        yield from (f"{share:>8.1%}  {operation}" for operation, share in self.shares.items())


def differences(before: Summary, after: Summary) -> Iterator[str]:
    """Yield how a day differs from another one: in kinds, in their operations, and in the share of each operation."""
    for missing in sorted(before.calls.keys() - after.calls.keys()):
        yield f"nobody asked for {missing[1]} of {missing[0]}"
    for new in sorted(after.calls.keys() - before.calls.keys()):
        yield f"{new[1]} of {new[0]} is new"
    for operation, share in before.shares.items():
        now = after.shares.get(operation, 0.0)
        if abs(now - share) > _SHARE:
            yield f"{operation} is {now:.0%} of the calls instead of {share:.0%}"
