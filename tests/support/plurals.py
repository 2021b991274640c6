"""What kinds are called in the paths of an API server."""

from typing import Final

_OTHERS: Final = {"NetworkAttachmentDefinition": "network-attachment-definitions"}


def plural(kind: str) -> str:
    """Return the plural of a kind.

    >>> plural("JobFlow"), plural("NetworkAttachmentDefinition")
    ('jobflows', 'network-attachment-definitions')
    """
    return _OTHERS.get(kind, f"{kind.lower()}s")
