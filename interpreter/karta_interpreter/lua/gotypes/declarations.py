"""The declarations of Go types in ``types.txt``."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Field(NamedTuple):
    """A field of a struct.

    ``always``: it is written even when it is empty: its tag has no ``omitempty``.
    """

    name: str
    type: str
    always: bool

    @property
    def is_pointer(self) -> bool:
        """Whether an empty value differs from none."""
        return self.type.startswith("*")


@cache
def declarations() -> Mapping[str, tuple[Field, ...]]:
    """The fields of every struct, by its name.

    >>> declarations()["NodeSelector"]
    (Field(name='nodeSelectorTerms', type='[]NodeSelectorTerm', always=True),)
    """
    text = Path(__file__).with_name("types.txt").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    declared: dict[str, tuple[Field, ...]] = {}
    name = ""
    for line in lines:
        words = line.split()
        if not line.startswith(" "):
            name = words.pop(0)
        declared[name] = (*declared.get(name, ()), *(_field(word) for word in words))
    return declared


def _field(word: str) -> Field:
    name, go_type = word.split(":")
    return Field(name.removesuffix("!"), go_type, name.endswith("!"))
