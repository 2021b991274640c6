"""Values of objects as people may see them, in the log and in the console."""

import re
from typing import Final

import orjson

from karta_interpreter.base.findings import count
from karta_interpreter.base.k8s.values import JSON, NOTHING

_SHOWN: Final = 64
_SECRET: Final = re.compile(
    r"\.(?:env|args|command|data|stringData|annotations)\b|secret|token|password|credential|key", re.IGNORECASE
)


def redacted(field: str, value: JSON) -> str:
    """Return a value for people: numbers and short texts as they are, unless their field may hold a secret.

    >>> redacted(".spec.replicas", 3), redacted(".spec.template.spec.containers[].env[].value", "s3cr3t")
    ('3', 'a text of 6 characters')
    """
    if value is NOTHING:
        return "no value"
    if isinstance(value, dict):
        return f"an object of {count(len(value), 'field')}"
    if isinstance(value, list):
        return f"a list of {count(len(value), 'element')}"
    if isinstance(value, str) and (_SECRET.search(field) or len(value) > _SHOWN):
        return f"a text of {count(len(value), 'character')}"
    return orjson.dumps(value).decode()
