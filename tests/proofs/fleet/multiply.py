"""A recording of more objects: each call again about copies of its object, with other names, uids and images.

The calls are texts, so that a copy costs little, and one is in memory at a time. A copy says the same in the request
and in its answer, so that its answer is right where the first one was.
"""

import base64
import re
from collections.abc import Iterable, Iterator

from tests.proofs.fleet.workloads import KINDS

_STEMS = "|".join(sorted((kind.stem for kind in KINDS), key=len, reverse=True))
_NAME = re.compile(rf"\b({_STEMS})([-_])(\d{{3}})(?!\d)".encode(), re.IGNORECASE)
_UID = re.compile(rb"\b([0-9a-f]{8})(-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b")
_PATCH = re.compile(rb'"patch":"([^"]*)"')
_IMAGE = b"registry.example/"
_SPREAD, _WORD = 0x9E3779B1, 0xFFFFFFFF
_OBJECT = re.compile(
    rb'"kind":\{"group":"[^"]*","version":"[^"]*","kind":"([^"]*)"\},"name":"((?:%b)-[0-9]{3,})"' % _STEMS.encode()
)


def object_of(call: bytes) -> bytes | None:
    """Return what names the object of a call, None for one that has no copies."""
    found = _OBJECT.search(call)
    return b" ".join(found.groups()) if found else None


def objects_of(calls: Iterable[bytes]) -> int:
    """Return how many objects the calls are about."""
    return len({object_of(call) for call in calls} - {None})


def multiplied(calls: Iterable[bytes], base: int, objects: int) -> Iterator[bytes]:
    """Yield the calls about ``base`` objects, each followed by those about its copies: so many objects in all."""
    ranks: dict[bytes, int] = {}
    for call in calls:
        yield call
        name = object_of(call)
        if name is not None:
            rank = ranks.setdefault(name, len(ranks))
            yield from (copied(call, number) for number in range(1, (objects - rank - 1) // base + 1))


def copied(call: bytes, number: int) -> bytes:
    """Return a call about the copy of its object with that number."""
    call = _PATCH.sub(lambda found: b'"patch":"%b"' % _in_patch(found[1], number), call)
    return _renamed(call, number)


def _in_patch(packed: bytes, number: int) -> bytes:
    return base64.b64encode(_renamed(base64.b64decode(packed), number))


def _renamed(text: bytes, number: int) -> bytes:
    text = _NAME.sub(rb"\g<1>\g<2>%d\g<3>" % number, text)
    text = _UID.sub(lambda found: b"%08x%b" % (int(found[1], 16) ^ (number * _SPREAD & _WORD), found[2]), text)
    return text.replace(_IMAGE, b"registry-%d.example/" % number)
