"""The webhook server: HTTPS in front of the operations, and everything a process needs to run for months.

This package contains HTTP, TLS, limits, metrics, the log, and starting and stopping. Bodies are decoded in
`karta_interpreter.webhook.wire` and answered in `karta_interpreter.engine.operations`. Only this package and
`karta_interpreter.web` import aiohttp.
"""

from karta_interpreter.webhook.server.process import run
from karta_interpreter.webhook.server.server import Started
from karta_interpreter.webhook.server.settings import Settings

__all__ = ["Settings", "Started", "run"]
