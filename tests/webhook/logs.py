"""What a server says to its log while a test looks on."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from karta_interpreter.webhook.log import NAME


class _Listener(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.said: list[dict[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        fields = getattr(record, "fields", {})
        self.said.append({"event": record.getMessage(), "log_level": record.levelname.lower(), **fields})


@contextmanager
def capture_logs() -> Iterator[list[dict[str, Any]]]:
    """Collect what is logged inside of the block at any level: ``event``, ``log_level`` and the fields."""
    logger, listener = logging.getLogger(NAME), _Listener()
    before = logger.level
    logger.addHandler(listener)
    logger.setLevel(logging.DEBUG)
    try:
        yield listener.said
    finally:
        logger.setLevel(before)
        logger.removeHandler(listener)
