"""A certificate chain with its private key: the one thing that every certificate source yields."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Certificate:
    """A pair that a server can use, as PEM; ``authority`` is what a client has to trust, where that is known.

    ``not_after`` is in seconds since 1970. ``stands_in`` tells that nobody trusts it: it is shown to probes until
    there is one that clients can be told of.
    """

    chain: bytes
    key: bytes = field(repr=False)
    names: tuple[str, ...]
    not_after: float
    authority: bytes = b""
    stands_in: bool = False
