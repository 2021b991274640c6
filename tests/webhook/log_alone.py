"""Programs that write the log of the server, and need nothing else of it."""

LOG_ALONE = """
import sys
from karta_interpreter.webhook.log import configure_log, flush_log, log
"""
