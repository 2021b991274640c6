"""When the token of a kubeconfig ends. This program does not renew it, so somebody has to replace it before."""

import asyncio
import base64
import json
import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime
from math import inf
from typing import Final, Self

from msgspec import Struct

from karta_interpreter.base.rate_limit import Clock

_logger = logging.getLogger(__name__)
_DAY: Final = 86_400.0
_SOON_SECONDS, _SOON_SHARE = 30 * _DAY, 3
_LOOK_SECONDS: Final = 600.0


class TokenLife(Struct, frozen=True):
    """The time for which a token is valid, in seconds since 1970. ``end`` is infinite if the token never ends."""

    begin: float
    end: float

    @classmethod
    def of(cls, token: str) -> Self | None:
        """Return the life of a JSON Web Token, None for any other token. Its signature does not matter here.

        >>> TokenLife.of("e30.eyJpYXQiOjUsImV4cCI6OX0.c2ln")
        TokenLife(begin=5.0, end=9.0)
        """
        try:
            _, claims, _ = token.split(".")
            fields = json.loads(base64.urlsafe_b64decode(claims + "=="))
            life = cls(float(fields.get("iat", -inf)), float(fields.get("exp", inf)))
            if life.end != inf:
                str(life)  # raises an error if no calendar has the time
        except (AttributeError, OverflowError, RecursionError, TypeError, ValueError):
            return None
        return life

    def ends_soon(self, now: float) -> bool:
        """Return whether a third of its life is left, and no more than 30 days."""
        return self.end - now < min(_SOON_SECONDS, (self.end - self.begin) / _SOON_SHARE)

    def __str__(self) -> str:
        """Return when it ends."""
        return f"{datetime.fromtimestamp(self.end, UTC):%Y-%m-%d %H:%M} UTC"


class TokenWatch:
    """Looks at the token in a kubeconfig, and logs once a day that it ends soon. ``end`` is when it ends."""

    def __init__(self, look: Callable[[], TokenLife | None], clock: Clock = time.time) -> None:
        self.end = inf
        self._look = look
        self._clock = clock
        self._logged = -inf

    async def run(self) -> None:
        """Look at intervals, until cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(_LOOK_SECONDS)

    async def look(self) -> None:
        """Look at the token as it is now: a Secret with a new one is mounted anew."""
        life, now = await asyncio.to_thread(self._look), self._clock()
        self.end = life.end if life else inf
        if life and life.ends_soon(now) and now - self._logged >= _DAY:
            self._logged = now
            _logger.warning(
                "the token of the kubeconfig ends at %s: make a kubeconfig with a new one (docs/install.md)", life
            )
