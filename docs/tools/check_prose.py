"""``python -m docs.tools.check_prose``: report how pages and docstrings read, and fail if users have too much to read.

Phrases are counted per 10,000 words, without code and without the pages that programs write. Too many of one are only
reported. The words of the pages for users are counted as ``wc -w`` does, with their examples. What only developers need
belongs below docs/developers.
"""

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
_WRITTEN: Final = frozenset(
    {"commands.md", "settings.md", "values.md", "metrics.md", "findings.md", "fields.md", "api.md"}
)
_PLANNED_WORDS: Final = 42_900
"""The words of all pages for users together. More is said shorter, once, or to developers."""
_SLACK: Final = 1_000
"""How many words more there may be, so that an ordinary change does not touch the plan."""
_VERBS: Final = "is|are|has|have|was|were|does|do|comes|belongs|needs"
_PHRASES: Final[Mapping[str, tuple[str, int]]] = {
    "semicolon": (";", 40),
    "relative what": (rf"\bwhat (?:{_VERBS}|it|they|a|an|the|no|nobody|others?)\b", 8),
    "that of, those of": (r"\b(?:that|those) of\b", 3),
    "of which, whose": (r"\b(?:of|in|by|from) which\b|\bwhose\b", 5),
}
"""The patterns, and how often each should be there at most."""
_CODE: Final = re.compile(r"^ *```[\s\S]*?^ *```$|`[^`\n]*`|\]\([^)\n]*\)|^ *>>>.*$", re.MULTILINE)


def _pages() -> Iterator[str]:
    for page in sorted((ROOT / "docs").rglob("*.md")):
        if page.name not in _WRITTEN and page.parent.name != "catalogue":
            yield page.read_text(encoding="utf-8")


def _for_users() -> Iterator[str]:
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        if page.name not in _WRITTEN:
            yield page.read_text(encoding="utf-8")


def _docstrings() -> Iterator[str]:
    for module in sorted((ROOT / "interpreter").rglob("*.py")):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                yield ast.get_docstring(node) or ""


def phrases(name: str, texts: Iterator[str]) -> Iterator[str]:
    """Yield a line for each phrase that there are too many of.

    >>> list(phrases("a page", iter(["Short; shorter."])))
    ['a page: semicolon: 5000 per 10,000 words, planned 40']
    """
    text = _CODE.sub(" ", "\n".join(texts))
    words = len(re.findall(r"[A-Za-z']+", text))
    for phrase, (pattern, most) in _PHRASES.items():
        found = round(10_000 * len(re.findall(pattern, text, re.IGNORECASE)) / max(words, 1))
        if found > most:
            yield f"{name}: {phrase}: {found} per 10,000 words, planned {most}"


def length(texts: Iterator[str]) -> Iterator[str]:
    """Yield a line if the pages for users have too many words together.

    >>> list(length(iter(["word " * 43_910, "one more"])))
    ['pages for users: 43,912 words, planned are 42,900, and 1,000 more are allowed']
    """
    words = sum(len(text.split()) for text in texts)
    if words > _PLANNED_WORDS + _SLACK:
        yield f"pages for users: {words:,} words, planned are {_PLANNED_WORDS:,}, and {_SLACK:,} more are allowed"


def main() -> int:
    """Print the report and the problem, and return the exit code."""
    for line in (*phrases("docs", _pages()), *phrases("docstrings", _docstrings())):
        sys.stdout.write(f"{line}\n")
    lines = list(length(_for_users()))
    sys.stderr.write("".join(f"{line}\n" for line in lines))
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
