"""The words that a newer source of an operator has, and that the table of its kind does not answer."""

import re
from collections.abc import Iterable, Iterator

from docs.tools.facts import Words
from tests.catalogue.tables import answered
from tests.proofs.drift.sources import Source


def new_words(words: Words, sources: Iterable[Source], version: str) -> Iterator[str]:
    """Yield what is different in a version: words without an answer, and patterns that find nothing any more."""
    for source in sources:
        if source.has(version):
            for path, pattern in words.source.files.items():
                found = set(words_in(source, version, path, pattern))
                if not found:
                    yield f"no words in {path}"
                yield from (f"the word {word} of {path} has no answer" for word in sorted(found - answered(words)))
            return


def words_in(source: Source, version: str, path: str, pattern: str) -> Iterator[str]:
    """Yield the groups of a pattern that match in the files of a path."""
    for _, text in source.files(version, [path]):
        for match in re.finditer(pattern, text, re.MULTILINE):
            yield from filter(None, match.groups())
