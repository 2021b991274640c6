"""Requirements that come back from a script as it got them, which most do."""

from typing import Final

from karta_interpreter.k8s.values import JSON

REQUIREMENTS: Final = ("ReplicaRequirements", "ComponentReplicaRequirements")
"""The types of the requirements of one replica."""


class Requirements(dict[str, JSON]):
    """What `encode` gave as the first of the types, without a namespace.

    `decode` leaves it alone as either type, and `encode` makes a plain object of it: it is done already. Nothing in it
    is empty or null, which would not come back from Lua.
    """

    __slots__ = ()
