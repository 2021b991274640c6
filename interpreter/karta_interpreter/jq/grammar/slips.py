"""What people write in a jq expression out of habit from another language, and what to write instead."""

import re

from karta_interpreter.errors import QuerySyntaxError

_DOUBLE_QUOTES = 'write strings in double quotes: "..."'
_SLIPS = (
    (r"===", "write `==`"),
    (r"!==", "write `!=`"),
    (r"!(?!=)", "write `... | not`"),
    (r"=~", 'to match a regular expression, write `test("...")`'),
    (r"&&", "write `and`"),
    (r"\|\|", "write `or`; `//` gives a default for null and false"),
    (r"\*\*", "write `pow(base; exponent)`"),
    (r"\[\*\]", "write `[]` to iterate over all elements"),
    (r"\$\.", "a path starts with `.`, as in `.spec.replicas`"),
    (r"\$\[", "a path starts with `.`, as in `.[0]`"),
    (r"\$(?![A-Za-z_])", "a variable is `$name`, without a space"),
    (r"<>", "write `!=`"),
    (r"['`\u201c\u201d]", _DOUBLE_QUOTES),
    (r"\u00a0", "this is a no-break space: write an ordinary one"),
)
_ANY_SLIP = re.compile("|".join(f"({pattern})" for pattern, _ in _SLIPS))


def find_slip(text: str, place: int) -> QuerySyntaxError | None:
    """The error for a slip that starts at ``place``; no jq expression holds any of them outside a string."""
    found = _ANY_SLIP.match(text, place)
    if not found:
        return None
    hint = _SLIPS[(found.lastindex or 1) - 1][1]
    return QuerySyntaxError(f"`{found[0]}` is not jq", start=place, end=found.end(), hint=hint)
