"""The log: one JSON object per line on stderr, never with the content of an object in it."""

import logging
import sys
from collections.abc import Mapping

import orjson
import structlog
from structlog.typing import EventDict, Processor

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()
"""The logger of this room."""

_PROCESSORS: tuple[Processor, ...] = (
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
    # Plain tracebacks: they name functions and lines, but no values.
    structlog.processors.format_exc_info,
)


def configure_log(level: str, **everywhere: object) -> None:
    """Write everything of that level or above as JSON lines, also what libraries log by `logging`.

    ``everywhere`` are fields that every line has.
    """
    processors = [*_PROCESSORS, _adding(everywhere)] if everywhere else _PROCESSORS
    structlog.configure(
        processors=[*processors, structlog.processors.EventRenamer("message"), _render_bytes],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.BytesLoggerFactory(sys.stderr.buffer),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=processors,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.EventRenamer("message"),
                _render_text,
            ],
        )
    )
    # Libraries narrate at info what only their authors want to know.
    logging.basicConfig(handlers=[handler], level=max(logging.WARNING, getattr(logging, level.upper())), force=True)


def _adding(fields: Mapping[str, object]) -> Processor:
    return lambda _logger, _name, event: {**fields, **event}


def _render_bytes(_logger: object, _name: str, event: EventDict) -> bytes:
    try:
        return orjson.dumps(event, default=str)
    except TypeError:  # a value that JSON has no form for: log it as text, rather than fail what was to be logged
        return orjson.dumps({_text(name): _text(value) for name, value in event.items()})


def _text(value: object) -> str:
    """A value as text that can be written, whatever it is: half a surrogate pair becomes a question mark."""
    try:
        return str(value).encode(errors="replace").decode()
    except Exception:  # noqa: BLE001 - its own __str__ may do anything
        return f"<{type(value).__name__}>"


def _render_text(logger: object, name: str, event: EventDict) -> str:
    return _render_bytes(logger, name, event).decode()
