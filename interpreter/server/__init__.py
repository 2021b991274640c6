"""The webhook server: HTTPS in front of the operations, and everything a process needs to run for months.

Here belong HTTP, TLS, limits, metrics, the log, and starting and stopping. What a body says belongs to
`interpreter.protocol`, what is answered to `interpreter.operations`. The only room that imports aiohttp.
"""

from interpreter.server.lifecycle import run
from interpreter.server.settings import Settings
from interpreter.server.startup import Started

__all__ = ["Settings", "Started", "run"]
