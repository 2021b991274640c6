"""The comments of a definition's text, which its scripts repeat."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

_COMMENT: Final = re.compile(r"( *)# ?(.*)")
# An expression as a whole value of YAML: behind a colon, a dash or a quote, with or without a block indicator.
_VALUE: Final = r"""(?:: |- |["'])(?:[>|][-+]? )?{}(?=$|["',}}]| [\w./-]+:| - )"""
_LEAST: Final = 6
"""The length of an expression that is looked for: a shorter one may be in any text by chance."""


class Comment(NamedTuple):
    """The lines of a comment, and the text of the entry below it."""

    lines: tuple[str, ...]
    entry: str

    def is_about(self, expression: str) -> bool:
        """Return whether an expression is a value of the entry."""
        value = re.escape(_flat(expression))
        return len(expression) >= _LEAST and bool(re.search(_VALUE.format(value), self.entry))


def document_of(text: str, name: str) -> str:
    """Return the document of a definition from a text of several documents."""
    text = "\n".join(text.splitlines())  # YAML has more line breaks than this one, such as U+0085
    documents = re.split(r"^---.*$", text, flags=re.MULTILINE)
    return next((each for each in documents if re.search(rf"^ +name: {re.escape(name)}$", each, re.MULTILINE)), "")


def comments_of(document: str) -> tuple[Sequence[str], list[Comment]]:
    r"""Return the lines of the comment at the start of a document, and all other comments in their order.

    >>> comments_of("# A toy.\nspec:\n  # Pods.\n  replicas: .spec.size\n  other: 1\n")
    (('A toy.',), [Comment(lines=('Pods.',), entry='replicas: .spec.size')])
    """
    lines, found, place = document.strip("\n").splitlines(), list[Comment](), 0
    head: Sequence[str] = ()
    while place < len(lines):
        end = place
        while end < len(lines) and _COMMENT.fullmatch(lines[end]):
            end += 1
        if end > place:
            comment = tuple(re.sub(r"^ *# ?", "", line) for line in lines[place:end])
            if place == 0:
                head = comment
            else:
                found.append(Comment(comment, _entry(lines[end:])))
        place = end + 1
    return head, found


def _entry(lines: Sequence[str]) -> str:
    """Return the entry at the start of some lines: its first line, and those that are deeper."""
    own = [line for line in lines[:1] if line.strip()]
    depth = len(own[0]) - len(own[0].lstrip()) if own else 0
    for line in lines[1:]:
        if line.strip() and len(line) - len(line.lstrip()) <= depth:
            break
        own.append(line)
    return _flat("\n".join(line for line in own if not _COMMENT.fullmatch(line)))


def _flat(text: str) -> str:
    return " ".join(text.split())
