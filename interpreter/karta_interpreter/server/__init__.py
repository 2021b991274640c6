"""The webhook server: HTTPS in front of the operations, and everything a process needs to run for months.

Here belong HTTP, TLS, limits, metrics, the log, and starting and stopping. Bodies are decoded in
`karta_interpreter.wire` and answered in `karta_interpreter.operations`. Only this package and
`karta_interpreter.console` import aiohttp.
"""

from karta_interpreter.server.process import run
from karta_interpreter.server.server import Started
from karta_interpreter.server.settings import Settings

__all__ = ["Settings", "Started", "run"]
