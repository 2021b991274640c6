"""The format of recordings: compressed files of lines, the first one about the file, then a call in each.

A line has the time in seconds since 1970, the request and the answer as they went over the wire. A file is readable up
to where it was cut off.
"""

import re
import zlib
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from karta_interpreter import __version__
from karta_interpreter.base.errors import RecordingError
from karta_interpreter.engine.operations import DEFAULT_OPTIONS, Options

VERSION: Final = 1
_FORMAT: Final = "karta-interpreter-recording"
_NAME: Final = re.compile(r"calls-[0-9TZ-]+-[0-9]+\.jsonl\.gz")
_GZIP: Final = 31
_PART: Final = 2**20
_LONGEST: Final = 2**27
"""Bytes of a line; the largest body of a call with its answer is below, unless a server takes larger ones."""


class RecordedCall(NamedTuple):
    """A request and its answer, as JSON values; ``options`` are those of the server that answered."""

    request: dict[str, Any]
    answer: dict[str, Any]
    options: Options


def file_name(time: str, number: int) -> str:
    """Return the name of a file; names sort as files were written.

    >>> file_name("20260102T030405Z", 7)
    'calls-20260102T030405Z-00000007.jsonl.gz'
    """
    return f"calls-{time}-{number:08}.jsonl.gz"


def files_in(folder: Path) -> list[Path]:
    """Return the recordings in a folder, the oldest first; raises OSError."""
    return sorted(path for path in folder.iterdir() if _NAME.fullmatch(path.name))


def head(options: Options) -> bytes:
    """Return the first line of a file."""
    return (
        orjson.dumps({"format": _FORMAT, "version": VERSION, "program": __version__, "options": asdict(options)})
        + b"\n"
    )


def line(time: float, request: bytes, answer: bytes) -> bytes:
    """Return the line of a call. A request is JSON, whose line breaks are between values only."""
    asked = request.strip().replace(b"\n", b" ").replace(b"\r", b" ")
    return b'{"time":%.3f,"request":%b,"answer":%b}\n' % (time, asked, answer)


def read(path: Path) -> Iterator[RecordedCall | RecordingError]:
    """Yield the calls of a file, and an error for each line that cannot be read, and where it ends too early.

    Raises RecordingError for a file of something else; OSError.
    """
    lines = _lines(path)
    options = _options(next(lines, b""))
    for text in lines:
        if isinstance(text, RecordingError):
            yield text
            continue
        try:
            found = orjson.loads(text)
            yield RecordedCall(found["request"], found["answer"]["response"], options)
        except (orjson.JSONDecodeError, KeyError, TypeError):
            yield RecordingError("a line is not a call")


def _options(first: bytes | RecordingError) -> Options:
    try:
        about = orjson.loads(first if isinstance(first, bytes) else b"")
        is_ours = about["format"] == _FORMAT
        version = about["version"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        is_ours, version = False, 0
    if not is_ours:
        raise RecordingError("it is not a recording of this program")
    if version > VERSION:
        raise RecordingError(
            f"it has version {version} of the format, and this program reads {VERSION}; use a newer one"
        )
    try:
        return Options.of(about["options"])
    except (KeyError, TypeError, ValueError):
        return DEFAULT_OPTIONS


def _lines(path: Path) -> Iterator[bytes | RecordingError]:
    unpacked, rest = zlib.decompressobj(_GZIP), b""
    with path.open("rb") as file:
        while not unpacked.eof and (part := file.read(_PART)):
            try:
                *lines, rest = (rest + unpacked.decompress(part)).split(b"\n")
            except zlib.error:
                yield RecordingError("it is damaged")
                return
            yield from lines
            if len(rest) > _LONGEST:
                yield RecordingError("a line does not end")
                return
    if not unpacked.eof:
        yield RecordingError("it ends before its end")
