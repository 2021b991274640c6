"""The log on stderr: a JSON object or a text per line, never with content of an object that may be secret."""

import logging
import os
import re
import select
import sys
import threading
from collections.abc import Callable, Mapping, MutableMapping
from datetime import UTC, datetime
from logging.handlers import QueueHandler, QueueListener
from queue import Full, Queue
from typing import Any, Final

import orjson

from karta_interpreter.base.findings import escaped

NAME = "karta_interpreter"
"""The name of the logger of this program, for `logging`."""

_STDERR: Final = 2
_MOST_WAITING: Final = 1000
LONGEST: Final = 4096
"""The most characters of a text in a line: a request may name its object by 30 MB."""
_FLUSH_SECONDS: Final = 1.0
_WORD = re.compile(r"[^\s\"=]+")
_CONTROLS = re.compile(rb"\x7f|\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9]")
"""Control characters and line separators that JSON allows in a string and that a terminal obeys, in UTF-8."""


class _Log(logging.LoggerAdapter[logging.Logger]):
    """Logs a constant message. The keyword arguments are its fields."""

    def process(self, msg: object, kwargs: MutableMapping[str, Any]) -> tuple[object, MutableMapping[str, Any]]:
        """Move the fields to the place at which `_line` finds them."""
        # `logging` takes no keywords of its callers. `extra` becomes attributes of the record.
        exc_info = kwargs.pop("exc_info", None)
        return msg, {"exc_info": exc_info, "extra": {"fields": {name: _cut(value) for name, value in kwargs.items()}}}


def _cut(value: object) -> object:
    """Return a text, or a list of texts, with a limited length."""
    if isinstance(value, str) and len(value) > LONGEST:
        return f"{value[: LONGEST - 1]}…"
    return [_cut(item) for item in value] if isinstance(value, list) else value


log = _Log(logging.getLogger(NAME))


def has_terminal() -> bool:
    """Return whether stderr is a terminal."""
    return os.isatty(_STDERR)


def configure_log(level: str) -> None:
    """Write records of that level or above as lines, including records of libraries and of Python itself.

    Lines are text on a terminal, else JSON.
    """
    least = getattr(logging, level.upper())
    # Libraries log details at info that only their authors want to know.
    logging.basicConfig(
        handlers=[_Lines(_text_line if has_terminal() else _line)], level=max(logging.WARNING, least), force=True
    )
    log.setLevel(least)
    # Python would write these on several lines, and block while the pipe is full.
    logging.captureWarnings(capture=True)
    sys.excepthook = lambda _, error, __: log.error("the process fails", exc_info=error)
    sys.unraisablehook = lambda failed: log.error("failed unexpectedly", exc_info=failed.exc_value)
    threading.excepthook = lambda failed: log.error("a thread fails", exc_info=failed.exc_value)


def open_standard_files() -> None:
    """Keep file descriptors 0, 1 and 2 from being connections: libuv aborts when it has to close one of these."""
    while (handle := os.open(os.devnull, os.O_RDWR)) <= _STDERR:
        pass
    os.close(handle)


def print_text(text: str) -> None:
    """Print a text for people on stderr, after the lines that were logged before it."""
    for lines in _all_lines():
        lines.enqueue(text)


def flush_log() -> None:
    """Return when the log is written, or after a second."""
    for lines in _all_lines():
        lines.flush()


class _Lines(QueueHandler):
    """Hands lines to the thread that writes them. Drops and counts lines that the queue has no room for.

    stderr blocks its writer while a pipe is full or a log driver hangs. A server must go on then.
    """

    queue: Queue[Any]

    def __init__(self, form: Callable[[logging.LogRecord], str]) -> None:
        super().__init__(Queue(_MOST_WAITING))
        self.form = form
        self.dropped = 0
        _LogWriter(self).start()

    def prepare(self, record: logging.LogRecord) -> str:
        # Formatted by the caller: the writer comes later, and the objects in the fields may change until then.
        return self.form(record)

    def enqueue(self, record: object) -> None:
        try:
            self.queue.put_nowait(record)
        except Full:
            self.dropped += 1

    def flush(self) -> None:
        with self.queue.all_tasks_done:
            self.queue.all_tasks_done.wait_for(lambda: not self.queue.unfinished_tasks, _FLUSH_SECONDS)


class _LogWriter(QueueListener):
    """The thread that writes waiting lines. It ends with the process: `stop` would wait for a reader of the pipe."""

    def __init__(self, lines: _Lines) -> None:
        super().__init__(lines.queue)
        self._lines = lines
        self._failed = self._reported = 0

    def handle(self, record: Any) -> None:  # noqa: ANN401 - a record for `logging`, a text here
        self._failed += not _write(record)
        # Once the queue is empty: one line for all lines that were lost meanwhile.
        lost = self._lines.dropped + self._failed - self._reported
        record = {"levelname": "WARNING", "msg": "lines of the log were not written in time", "fields": {"lost": lost}}
        if lost and self._lines.queue.empty() and _write(self._lines.form(logging.makeLogRecord(record))):
            self._reported += lost


def _write(text: str) -> bool:
    # Not by `sys.stderr`: a blocked writer holds its lock, which Python needs to end.
    unwritten = text.encode(errors="replace")
    while unwritten:
        try:
            unwritten = unwritten[os.write(_STDERR, unwritten) :]
        except BlockingIOError:  # another process has made the shared pipe non-blocking
            select.select([], [_STDERR], [])
        except OSError:  # the pipe is closed, or the disk is full
            return False
    return True


def _line(record: logging.LogRecord) -> str:
    """Format a record as one line of JSON, the same in every terminal and locale."""
    event = dict(getattr(record, "fields", {}))
    event["level"] = record.levelname.lower()
    event["time"] = datetime.fromtimestamp(record.created, UTC).isoformat().replace("+00:00", "Z")
    if record.exc_info:
        # A plain traceback: it names functions and lines, but no values.
        event["exception"] = logging.Formatter().formatException(record.exc_info)
    event["message"] = _message(record)
    # orjson only escapes characters below U+0020.
    line = _CONTROLS.sub(lambda match: b"\\u%04x" % ord(match[0].decode()), _json(event))
    return f"{line.decode()}\n"


def _text_line(record: logging.LogRecord) -> str:
    """Format a record as one line for people, with its traceback, if any, below it."""
    time = datetime.fromtimestamp(record.created, UTC).strftime("%H:%M:%S")
    fields = (f"{name}={_value(value)}" for name, value in getattr(record, "fields", {}).items())
    line = escaped(_text(" ".join([time, record.levelname.lower(), _message(record), *fields])))
    trace = logging.Formatter().formatException(record.exc_info).splitlines() if record.exc_info else []
    return "".join(f"{written}\n" for written in [line, *(f"  {escaped(_text(trace_line))}" for trace_line in trace)])


def _value(value: object) -> str:
    if isinstance(value, str) and _WORD.fullmatch(value):
        return value
    return _json({"": value}).decode()[len('{"":') : -1]


def _all_lines() -> list[_Lines]:
    return [handler for handler in logging.getLogger().handlers if isinstance(handler, _Lines)]


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:  # noqa: BLE001 - the arguments of a library do not fit its message
        return _text(record.msg)


def _json(event: Mapping[str, object]) -> bytes:
    try:
        return orjson.dumps(event, default=str)
    except TypeError:  # a value that JSON has no form for is logged as text
        return orjson.dumps({_text(name): _text(value) for name, value in event.items()})


def _text(value: object) -> str:
    """Return any value as text that can be encoded: half a surrogate pair becomes a question mark."""
    try:
        return str(value).encode(errors="replace").decode()
    except Exception:  # noqa: BLE001 - its own __str__ may do anything
        return f"<{type(value).__name__}>"
