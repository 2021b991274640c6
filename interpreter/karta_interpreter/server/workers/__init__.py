"""Several processes behind one port, for more than one core.

::

    clients ──▶ server ──connections──▶ workers, each with an event loop and a `Reception` of its own
                  │   ◀──what they counted, which connections have ended──  │
                  └──definitions, referenced objects, the certificate──▶

The server's own process accepts every connection and hands it, untouched, to the worker that has the fewest. It alone
reads folders, watches the cluster, registers and renews certificates. What comes of that it tells the workers, only
what has changed, and they compile it for themselves. Calls never pass through it.

A worker ends when the server does, however that happens: the socket between them closes. A worker that dies, or does
not answer for long, is replaced; the connections of the others go on.
"""

from karta_interpreter.server.workers.changes import State
from karta_interpreter.server.workers.workers import Workers

__all__ = ["State", "Workers"]
