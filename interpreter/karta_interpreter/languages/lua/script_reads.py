"""What a script of Retain reads of the member's object."""

import re
from collections.abc import Container, Iterator
from typing import Final, TypeAlias

from karta_interpreter.base.k8s import JSON
from karta_interpreter.languages.lua.script import Script
from karta_interpreter.languages.lua.script_fields import fields_of

Steps: TypeAlias = tuple[str | int | None, ...]
"""The way to a value: keys, indices from 0, and None for every entry of a list or a map."""

_STEP: Final = re.compile(r"""\.(\w+)|\[["']([^"']+)["']\]|\[(\d+)\]|\[([^]]+)\]""")
_TEXT_LOCAL: Final = re.compile(r"""\blocal +(\w+) *= *["']([^"'\n]+)["'] *;?$""", re.MULTILINE)
_LOOP_NAME: Final = re.compile(r"\bfor +(\w+)")
# What is done with a value that tells nothing of what it is compared with: a call, but for those that pass it on, a
# method, another name.
_IS_ARGUMENT: Final = re.compile(r"(?<!function)(?<!function Retain)(?<=\w)[(] *(?:[\w.]+ *, *)*$")
_PASSES_ON: Final = re.compile(r"\b(?:i?pairs|type|tostring|tonumber|next|table\.insert|if|and|or|not) *[(][^()]*$")
_METHOD: Final = re.compile(r" *:\w")
_OTHER_NAME: Final = re.compile(r"(?<![\w.])(\w+) *= *$")
_LOOP_KEYS: Final = re.compile(r"\bfor +(\w+) *,[\w, ]+ in +pairs\( *(\w+)((?:\.\w+)*)")
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
    mentions = fields_of(script.function, text, first=1)
    tracked = {mention[1] for mention, _ in mentions}
    for mention, of in mentions:
        way = f"{of}{mention[2]}"
        steps = tuple(_steps(way, keys))
        before = text[max(mention.start() - 99, 0) : mention.start()]
        is_argument = _IS_ARGUMENT.search(before) and not (steps and _PASSES_ON.search(before))
        other = _OTHER_NAME.search(before)
        is_lost = is_argument or _METHOD.match(text, mention.end(2)) or (other and other[1] not in tracked)
        if "" in steps or is_lost:
            unknown[way.removeprefix(".") or "all"] = None
        if "" not in steps and steps:
            reads.setdefault(steps, []).extend(_compared(mention))
    unknown |= dict.fromkeys(_keys_compared(text, tracked))
    # A value is made with the parts of it that are read.
    holders = {steps[:length] for steps in reads for length in range(len(steps))}
    return {steps: values for steps, values in reads.items() if steps not in holders}, list(unknown)


def _keys_compared(text: str, tracked: Container[str]) -> Iterator[str]:
    """Yield the maps with keys of which a loop does more than take the entries."""
    for key, holder, steps in _LOOP_KEYS.findall(text):
        uses = re.findall(rf"(?<![\w.]){key}\b", re.sub(rf"\[ *{key} *\]", "", text))
        if holder in tracked and len(uses) > 1:
            yield f"the keys of {holder}{steps}"


def _steps(way: str, keys: dict[str, str | None]) -> Iterator[str | int | None]:
    """Yield the steps of a path in Lua, and "" for a key that is not known."""
    for field, text, number, name in _STEP.findall(way):
        if number:
            yield max(int(number) - 1, 0)
        else:
            yield keys.get(name, "") if name else field or text


def _compared(mention: re.Match[str]) -> list[JSON]:
    """Return what a field is compared with, and what is not that. A default shows its type."""
    operator, literal = mention[3], mention[4]
    if _SWITCH.match(mention.string, mention.end(2)):
        return [True, False]
    if operator == "or" and literal.isdigit():
        return [int(literal) + 1]
    if not literal or operator in ("=", "or"):
        return []
    if not literal.isdigit():
        return [literal[1:-1], f"not {literal[1:-1]}"]
    number = int(literal)
    return [number, number + 1, abs(number - 1)]
