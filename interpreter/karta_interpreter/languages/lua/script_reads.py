"""What a script of Retain reads of the member's object."""

import re
from collections.abc import Iterator
from typing import Final, TypeAlias

from karta_interpreter.base.k8s import JSON
from karta_interpreter.languages.lua.script import Script
from karta_interpreter.languages.lua.script_fields import fields_of

Steps: TypeAlias = tuple[str | int | None, ...]
"""The way to a value: keys, indices from 0, and None for every entry of a list or a map."""

_STEP: Final = re.compile(r"""\.(\w+)|\[["']([^"']+)["']\]|\[(\d+)\]|\[([^]]+)\]""")
_TEXT_LOCAL: Final = re.compile(r"""\blocal +(\w+) *= *["']([^"'\n]+)["'] *;?$""", re.MULTILINE)
_LOOP_NAME: Final = re.compile(r"\bfor +(\w+)")
_IS_ARGUMENT: Final = re.compile(r"(?<!function)(?<!function Retain)(?<=\w)[(] *(?:[\w.]+ *, *)*$")
_SWITCH: Final = re.compile(r" *[~=]= *(?:true|false)\b")


def member_reads(script: Script) -> tuple[dict[Steps, list[JSON]], list[str]]:
    """Return what a script of Retain reads of the member, and the paths with keys that are known only when it runs.

    Each value has what it is compared with, and what is not that.

    >>> text = 'function Retain(d, o) if o.spec["a"] == "b" then d.x = o.spec[d.x] end return d end'
    >>> member_reads(Script("Retain", text, "mine"))
    ({('spec', 'a'): ['b', 'not b']}, ['spec[d.x]'])
    """
    text = re.sub("--.*", "", script.text)
    keys: dict[str, str | None] = dict(_TEXT_LOCAL.findall(text))
    keys.update(dict.fromkeys(["i", *_LOOP_NAME.findall(text)]))
    reads: dict[Steps, list[JSON]] = {}
    unknown = dict[str, None]()
    for mention, of in fields_of(script.function, text, first=1):
        way = f"{of}{mention[2]}"
        steps = tuple(_steps(way, keys))
        if "" in steps:
            unknown[way.removeprefix(".")] = None
        elif steps:
            reads.setdefault(steps, []).extend(_compared(mention))
        elif _IS_ARGUMENT.search(text[max(mention.start() - 99, 0) : mention.start()]):
            unknown["all"] = None
    # A value is made with the parts of it that are read.
    holders = {steps[:length] for steps in reads for length in range(len(steps))}
    return {steps: values for steps, values in reads.items() if steps not in holders}, list(unknown)


def _steps(way: str, keys: dict[str, str | None]) -> Iterator[str | int | None]:
    """Yield the steps of a path in Lua, and "" for a key that is not known."""
    for field, text, number, name in _STEP.findall(way):
        if number:
            yield max(int(number) - 1, 0)
        else:
            yield keys.get(name, "") if name else field or text


def _compared(mention: re.Match[str]) -> list[JSON]:
    """Return what a field is compared with, and what is not that."""
    operator, literal = mention[3], mention[4]
    if _SWITCH.match(mention.string, mention.end(2)):
        return [True, False]
    if not literal or operator in ("=", "or"):
        return []
    if not literal.isdigit():
        return [literal[1:-1], f"not {literal[1:-1]}"]
    number = int(literal)
    return [number, number + 1, abs(number - 1)]
