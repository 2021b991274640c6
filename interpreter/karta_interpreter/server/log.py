"""The log: one JSON object per line on stderr, never with the content of an object in it."""

import logging
import sys
import threading
from collections.abc import Mapping
from datetime import UTC, datetime

import orjson

from karta_interpreter.server.stderr import Stderr

NAME = "karta_interpreter.server"
"""The name of the logger of this room, for `logging`."""

_logger = logging.getLogger(NAME)
_plain = logging.Formatter()


class Log:
    """Tells of things by a message that is always the same, and fields that are not."""

    def debug(self, message: str, **fields: object) -> None:
        """Tell what only matters to somebody who looks for a mistake."""
        _tell(logging.DEBUG, message, fields)

    def info(self, message: str, **fields: object) -> None:
        """Tell what is as it should be."""
        _tell(logging.INFO, message, fields)

    def warning(self, message: str, **fields: object) -> None:
        """Tell what somebody should look at."""
        _tell(logging.WARNING, message, fields)

    def error(self, message: str, *, exc_info: BaseException | None = None, **fields: object) -> None:
        """Tell what somebody has to mend."""
        _tell(logging.ERROR, message, fields, exc_info)

    def exception(self, message: str, **fields: object) -> None:
        """Tell the same of the exception that is being handled."""
        _tell(logging.ERROR, message, fields, sys.exception())

    def log(self, level: int, message: str, /, **fields: object) -> None:
        """Tell something at a level of `logging`."""
        _tell(level, message, fields)

    def is_enabled_for(self, level: int) -> bool:
        """Whether something at that level is told at all."""
        return _logger.isEnabledFor(level)


log = Log()
"""The logger of this room."""


def configure_log(level: str, **everywhere: object) -> None:
    """Write everything of that level or above as JSON lines, also what libraries log by `logging` and Python itself.

    ``everywhere`` are fields that every line has.
    """
    least = getattr(logging, level.upper())
    # Libraries narrate at info what only their authors want to know.
    logging.basicConfig(handlers=[_Lines(everywhere)], level=max(logging.WARNING, least), force=True)
    _logger.setLevel(least)
    # Python would write of these on several lines, and wait for whoever reads them.
    logging.captureWarnings(capture=True)
    sys.excepthook = lambda _, error, __: log.error("the process fails", exc_info=error)
    sys.unraisablehook = lambda said: log.error("failed unexpectedly", exc_info=said.exc_value)
    threading.excepthook = lambda said: log.error("a thread fails", exc_info=said.exc_value)


def flush_log() -> None:
    """Return when what was logged is written, or after a second."""
    for handler in logging.getLogger().handlers:
        handler.flush()


def _tell(level: int, message: str, fields: Mapping[str, object], cause: BaseException | None = None) -> None:
    if _logger.isEnabledFor(level):
        _logger.log(level, message, exc_info=cause, extra={"fields": fields})


class _Lines(logging.Handler):
    """Writes lines that are the same whatever the terminal or the locale is."""

    def __init__(self, everywhere: Mapping[str, object]) -> None:
        super().__init__()
        self._everywhere = everywhere
        self._stderr = Stderr()

    def emit(self, record: logging.LogRecord) -> None:
        if self._stderr.lost and self._stderr.has_room:
            lost, self._stderr.lost = self._stderr.lost, 0
            self._stderr.write(_line(self._event(_loss(lost))))
        self._stderr.write(_line(self._event(record)))

    def flush(self) -> None:
        self._stderr.flush()

    def close(self) -> None:
        self._stderr.close()
        super().close()

    def _event(self, record: logging.LogRecord) -> dict[str, object]:
        event = {**self._everywhere, **getattr(record, "fields", {})}
        event["level"] = record.levelname.lower()
        event["time"] = datetime.fromtimestamp(record.created, UTC).isoformat().replace("+00:00", "Z")
        if record.exc_info:
            # A plain traceback: it names functions and lines, but no values.
            event["exception"] = _plain.formatException(record.exc_info)
        event["message"] = _message(record)
        return event


def _loss(lines: int) -> logging.LogRecord:
    said = logging.LogRecord(
        NAME, logging.WARNING, __file__, 0, "lines of the log were not written in time", None, None
    )
    said.fields = {"lost": lines}
    return said


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:  # noqa: BLE001 - a library has said something that does not fit together
        return _text(record.msg)


def _line(event: Mapping[str, object]) -> bytes:
    try:
        return orjson.dumps(event, default=str, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # a value that JSON has no form for: log it as text, rather than fail what was to be logged
        texts = {_text(name): _text(value) for name, value in event.items()}
        return orjson.dumps(texts, option=orjson.OPT_APPEND_NEWLINE)


def _text(value: object) -> str:
    """A value as text that can be written, whatever it is: half a surrogate pair becomes a question mark."""
    try:
        return str(value).encode(errors="replace").decode()
    except Exception:  # noqa: BLE001 - its own __str__ may do anything
        return f"<{type(value).__name__}>"
