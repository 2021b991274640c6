"""Conflicts with other field managers of our object: who they are, and messages about them."""

import logging

from karta_interpreter.base.k8s import Object, edit
from karta_interpreter.definitions.sources.api_server import MANAGER

_logger = logging.getLogger(__name__)


class Messages:
    """Logs a message about a topic unless it repeats the previous one."""

    def __init__(self) -> None:
        self._last: dict[str, str] = {}

    def log(self, topic: str, level: int, message: str) -> None:
        """Log a message if it is news."""
        if self._last.get(topic) != message:
            self._last[topic] = message
            _logger.log(level, message)

    def forget(self, topic: str) -> None:
        """Log the next message about a topic in any case."""
        self._last.pop(topic, None)


def rival(present: Object | None, desired: Object) -> str:
    """Return who changed the object to its present state, and how it differs from the desired one.

    >>> rival(None, {})
    'it was deleted'
    """
    if present is None:
        return "it was deleted"
    entries = edit.get(present, ("metadata", "managedFields")) or ()
    # Another installation of this program writes under the same field manager.
    writers = (entry for entry in entries if "f:webhooks" in (entry.get("fieldsV1") or {}))
    # The manager of a client that sends no User-Agent is empty.
    managers = {entry.get("manager") or "a client without a name" for entry in writers} - {MANAGER}
    who = f"it was changed by {', '.join(sorted(managers)) or 'another karta-interpreter'}"
    theirs, ours = _addresses(present), _addresses(desired)
    if theirs == ours:
        return f"{who}, to other kinds or operations"
    return f"{who}, to call {', '.join(theirs) or 'nobody'} instead of {', '.join(ours) or 'nobody'}"


def _addresses(configuration: Object) -> list[str]:
    clients = [webhook.get("clientConfig") or {} for webhook in configuration.get("webhooks") or ()]
    services = [(client.get("service"), client.get("url")) for client in clients]
    return sorted({f"Service {at['namespace']}/{at['name']}" if at else str(url) for at, url in services})
