"""Programs that write the log of the server, and need nothing else of it."""

LOG_ALONE = """
import sys
from types import ModuleType
import karta_interpreter

# Only the module of the log: the package imports aiohttp and all the rest, which takes ten times as long.
sys.modules["karta_interpreter.webhook.server"] = package = ModuleType("karta_interpreter.webhook.server")
package.__path__ = [f"{karta_interpreter.__path__[0]}/webhook/server"]
from karta_interpreter.webhook.server.log import configure_log, flush_log, log
"""
