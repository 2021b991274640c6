"""The format of recordings: compressed files of lines. The first line is about the file, each other line is a call.

A line has the time in seconds since 1970, and the request and the answer as they went over the wire. A file is readable
up to the point at which it was cut off. Each line is sealed, so that a damaged one is not taken for a call. Lines of
version 0.1 are not.
"""

import base64
import gzip
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias, cast

import orjson
from msgspec import structs

from karta_interpreter import __version__
from karta_interpreter.base.errors import InterpretationError, RecordingError
from karta_interpreter.base.files import is_sealed, sealed
from karta_interpreter.base.k8s import NewObject, patched
from karta_interpreter.base.k8s.shape import Shape, check_shape
from karta_interpreter.engine.operations import DEFAULT_OPTIONS, Call, Options, Results, by_operation

VERSION: Final = 1
_FORMAT: Final = "karta-interpreter-recording"
_NAME: Final = re.compile(r"calls-[0-9TZ-]+-([0-9]+)\.jsonl\.gz")
LONGEST: Final = 2**22
"""The most bytes of a line. An object in etcd has 1.5 MiB, and Retain sends two."""
_CUT: Final = "it ends before its end"
_DAMAGED: Final = "it is damaged"
_MOST_UNREADABLE: Final = 100
"""The most lines of a file that are not a call. After them the rest of the file is not read."""


class RecordedCall(NamedTuple):
    """A request and its answer, as JSON values. ``options`` are the options of the server that answered."""

    request: NewObject
    answer: NewObject
    options: Options


def file_name(time: str, number: int) -> str:
    """Return the name of a file. Its number is larger than the numbers of the files before it in the folder.

    >>> file_name("20260102T030405Z", 7)
    'calls-20260102T030405Z-00000007.jsonl.gz'
    """
    return f"calls-{time}-{number:08}.jsonl.gz"


def file_number(path: Path) -> int:
    """Return the number in the name of a recording, -1 for another file.

    >>> file_number(Path("calls-20260102T030405Z-00000007.jsonl.gz"))
    7
    """
    match = _NAME.fullmatch(path.name)
    return int(match[1]) if match else -1


def files_in(folder: Path) -> list[Path]:
    """Return the recordings in a folder, oldest first, by number because clocks are set back. Raises OSError."""
    files = [path for path in folder.iterdir() if file_number(path) >= 0]
    return sorted(files, key=lambda path: (file_number(path), path.name))


def head(options: Options) -> bytes:
    """Return the first line of a file."""
    about = {"format": _FORMAT, "version": VERSION, "program": __version__, "options": structs.asdict(options)}
    return sealed(orjson.dumps(about)) + b"\n"


def line(time: float, request: bytes, answer: bytes) -> bytes:
    """Return the line of a call. A request is JSON, with line breaks between values only."""
    one_line = request.strip().replace(b"\n", b" ").replace(b"\r", b" ")
    return sealed(b'{"time":%.3f,"request":%b,"answer":%b}' % (time, one_line, answer)) + b"\n"


def read(path: Path) -> Iterator[RecordedCall | RecordingError]:
    """Yield the calls of a file, and an error for each line that cannot be read, and for a premature end.

    Raises RecordingError for a file with other content, and OSError.
    """
    if not path.stat().st_size:
        # A server has just opened it, or was killed then.
        yield RecordingError(_CUT)
        return
    lines = _lines(path)
    first = next(lines, b"")
    options, is_every_line_sealed = _options(first), isinstance(first, bytes) and is_sealed(first) is True
    unreadable = 0
    for number, text in enumerate(lines, 2):
        if isinstance(text, RecordingError):
            yield text
            continue
        try:
            call = orjson.loads(text) if _is_whole(text, is_every_line_sealed) else {}
            yield RecordedCall(call["request"], call["answer"]["response"], options)
        except (orjson.JSONDecodeError, KeyError, TypeError):
            unreadable += 1
            yield RecordingError("a line is not a call")
            if unreadable == _MOST_UNREADABLE:
                yield RecordingError(f"{unreadable} lines up to line {number} are not calls; the rest is not read")
                return


def _is_whole(line: bytes, is_every_line_sealed: bool) -> bool:
    seal = is_sealed(line)
    return seal is True or (seal is None and not is_every_line_sealed)


def _options(head: bytes | RecordingError) -> Options:
    try:
        header = orjson.loads(head if isinstance(head, bytes) else b"")
        is_ours = header["format"] == _FORMAT
        version = header["version"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        is_ours, version = False, 0
    if not is_ours:
        raise RecordingError("it is not a recording of this program")
    if version > VERSION:
        raise RecordingError(
            f"it has version {version} of the format, and this program reads {VERSION}; use a newer one"
        )
    if isinstance(head, bytes) and is_sealed(head) is False:
        raise RecordingError(_DAMAGED)
    try:
        return Options.of(header["options"])
    except (KeyError, TypeError, ValueError):
        return DEFAULT_OPTIONS


def _lines(path: Path) -> Iterator[bytes | RecordingError]:
    """Yield the lines of a file, each unpacked when it is asked for: a small file may unpack to gigabytes."""
    try:
        with gzip.open(path) as file:
            for number, text in enumerate(iter(partial(file.readline, LONGEST + 1), b""), 1):
                if len(text) > LONGEST:
                    yield RecordingError(f"line {number} is longer than {LONGEST} bytes; the rest is not read")
                    return
                yield text
    except EOFError:
        yield RecordingError(_CUT)
    except (gzip.BadGzipFile, zlib.error):
        yield RecordingError(_DAMAGED)


_Response: TypeAlias = Mapping[str, Any]
_MALFORMED: Final = (AttributeError, InterpretationError, LookupError, TypeError, ValueError)


_REQUIREMENTS: Final[Shape] = {"resourceRequest": {}, "nodeClaim": {}, "namespace": str, "priorityClassName": str}
_SHAPE: Final[Shape] = {
    "replicas": int,
    "replicaRequirements": _REQUIREMENTS,
    "rawStatus": {},
    "healthy": bool,
    "patch": str,
    "components": [{"name": (str,), "replicas": (int,), "replicaRequirements": _REQUIREMENTS}],
    "dependencies": [{"apiVersion": (str,), "kind": (str,), "namespace": str, "name": str}],
}


def results_of(call: Call, response: _Response) -> Results:
    """Return the results in the response to a successful call. Raises RecordingError if there are none."""
    try:
        check_shape("response", response, _SHAPE)
        return _RESULTS[call.operation](call, response)
    except _MALFORMED as error:
        raise RecordingError(f"an answer to {call.operation} cannot be read") from error


def _patched(name: str) -> Callable[[Call, _Response], Results]:
    def read(call: Call, response: _Response) -> Results:
        steps = orjson.loads(base64.b64decode(response["patch"])) if response.get("patch") else []
        changed = patched(call.object, steps)
        orjson.dumps(changed)  # another server may nest deeper than anything here reads
        return cast("Results", {name: changed})

    return read


_RESULTS: Final[Mapping[str, Callable[[Call, _Response], Results]]] = by_operation(
    interpret_replica=lambda _, response: {
        "replica": response["replicas"],
        "requires": response.get("replicaRequirements"),
    },
    interpret_component=lambda _, response: {"components": response.get("components")},
    revise_replica=_patched("revised"),
    revise_components=_patched("revised"),
    retain=_patched("retained"),
    aggregate_status=_patched("aggregatedStatus"),
    interpret_status=lambda _, response: {"status": {**response["rawStatus"]}},
    interpret_health=lambda _, response: {"healthy": response["healthy"]},
    interpret_dependency=lambda _, response: {"dependencies": [*response["dependencies"]]},
)
