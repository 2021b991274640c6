"""What each attack is held to. A wait is a ratio to that of an idle control in the same seconds (`found.FLOOR`)."""

from math import inf
from typing import Final

from tests.proofs.audit.found import Bound

AFTER: Final = 1.1
"""The memory of a server that has settled after an attack, as a ratio to that before it."""
EVERYWHERE: Final = (
    Bound("call wait", 3, "an innocent call waits 100 ms, or three times what the control waits"),
    Bound("call lost", 0, "every innocent call is answered"),
    Bound("health wait", 3, "a probe of the liveness waits as little as a call does"),
    Bound("health lost", 0, "three lost probes restart the container"),
    Bound("code 500", 0, "an unexpected exception is a defect"),
    Bound("HTTP 500", 0, "an unexpected exception is a defect"),
    Bound("ended early", 0, "a server takes connections during the whole attack"),
    Bound("killed", 0, "no process is killed for the memory of a container of 512 MiB"),
    Bound("memory after", AFTER, "memory is given back"),
)
"""For every attack that does not set a bound of its own on the same figure."""

TURN: Final = Bound("turn", 0.1, "no turn of the event loop takes more processor time, whatever the machine does")
_EQUAL = Bound("differences", 0, "no client can tell the fast lane from aiohttp")

BOUNDS: Final[dict[str, tuple[Bound, ...]]] = {
    "wire-bodies": (_EQUAL,),
    "wire-streams": (_EQUAL,),
    "definitions-asked": (Bound("memory", 12, "every process of the pool has a limit of its own"),),
    "definitions-beside": (
        Bound("bounded wait", 30, "a bounded call waits for the start of a process once"),
        Bound("bounded p99", 6, "one owner has one process of the pool at most while others wait"),
        Bound("bounded lost", 0, "a bounded call beside hostile ones is answered"),
    ),
    "scripts": (Bound("memory", 12, "every process that runs scripts has a limit of its own"),),
    "objects": (Bound("memory", 6, "what is answered in the server's process needs little memory"),),
    "objects-large": (Bound("memory", 40, "two processes of large calls have a gigabyte each"),),
    "children": (
        Bound("call wait", inf, "more processes than cores have work: `scripts` and `objects-large` judge the waits"),
        Bound("memory", 12, "the largest child process ends before the container has no memory"),
    ),
    "kartas-come": (Bound("memory", 12, "a child process that judges Kartas has a limit"),),
    "references-large": (Bound("unanswered", 0, "the count is known without what is too large to be looked up"),),
    "references-many": (Bound("memory", 12, "a child process decodes what a look-up finds, up to 4 MiB"),),
    "admission": (
        Bound("memory", 40, "reviews have the memory limit of large calls"),
        Bound("growth", 16, "eight times the children take eight times the time: validation is linear"),
    ),
    "admission-left": (Bound("busy afterwards", 0.5, "a review ends at its deadline, although its client has left"),),
    "types-pages": (Bound("memory over text", 1.5, "each of both programs keeps the text of a type about once"),),
    "types-many": (Bound("first page", 2, "the rows of all types are made in a thread, once"),),
    "connections-idle": (
        Bound("MiB taken", 110, "the number of connections is bounded"),
        Bound("memory growth", 1.1, "connections that have ended give their memory back"),
    ),
    "connections-slow": (Bound("kept", 0, "a client has until the header timeout to send its head"),),
    "unfinished-webhook": (Bound("memory", 5, "bodies that have come have a bound of bytes over all connections"),),
    "clock": (
        Bound("call wait", 30, "a call waits a second: libfaketime makes the server slow, not the control"),
        Bound("health wait", 30, "as above"),
        Bound("stale", 0, "a self-signed certificate is renewed that is not valid at the time of the server"),
        Bound("limited", 0, "what is left of a rate does not depend on the time of day"),
        Bound("longest", 5, "the deadline of a call does not depend on the time of day"),
        Bound("failed", 0, "a jump loses no call"),
    ),
    "overload": (
        Bound("call wait", inf, "calls wait for their turn, or are rejected at once: only health is promised"),
        Bound("call lost", inf, "as above: beyond the cap a call is answered 503"),
        Bound("unanswered", 0, "a call beyond the cap is answered 503 at once, none is left without an answer"),
        Bound("memory", 6, "the number of calls in work is bounded"),
    ),
    "scrapes": (Bound("MiB of a page", 4, "Prometheus takes it in an interval, and nobody renders it for long"),),
    "calls-failing": (Bound("log lines", 10, "calls that fail for one reason have one line in a minute"),),
    "replay-hostile": (
        Bound("MiB of replay", 200, "recordings are unpacked in parts, and given up after bad lines"),
        Bound("not replayed", 0, "the memory of replay was seen"),
    ),
    "recordings": (
        Bound("values", 0, "no value of an environment is recorded, in whatever text of the call it comes again"),
        Bound("empty files", 0, "a full disk leaves no file without a call"),
        Bound("log lines", 1, "a full disk is named once"),
        Bound("unwritten", 0, "calls were recorded before the disk was full"),
        Bound("unnoticed", 0, "the metric counts the calls that cannot be recorded"),
    ),
    "fights": (
        Bound("MiB taken", 60, "objects and fights that are remembered have bounds, and so have their texts"),
        Bound("unseen", 0, "fights were seen"),
    ),
    "soak": (
        Bound("failed", 0, "at 70 % of a core every call is answered in time"),
        Bound("memory growth", AFTER, "months of service need no more memory than the first minutes"),
    ),
    "reloads": (Bound("memory growth", 1.1, "a replaced snapshot is given back"),),
}


def bounds_of(attack: str) -> tuple[Bound, ...]:
    """Return the bounds of an attack: its own, and those of every attack for other figures.

    >>> {bound.figure: bound.most for bound in bounds_of("overload")}["health lost"]
    0
    """
    own = BOUNDS.get(attack, ())
    figures = {bound.figure for bound in own}
    return (*(bound for bound in EVERYWHERE if bound.figure not in figures), *own)
