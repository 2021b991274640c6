"""Having a certificate signed by a process of its own."""

import json
import subprocess
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from karta_interpreter.errors import ServeError
from karta_interpreter.pki.certificate import Certificate
from karta_interpreter.worker.packages import BARE, environment

_PROGRAM = Path(__file__).with_name("signing.py")
_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Order:
    """A certificate to be signed at ``now`` for ``names``, valid for ``life``; times are in seconds.

    By an ``authority``, PEM with its key; without one by a new authority, which is valid for ``authority_life``.
    """

    names: tuple[str, ...]
    now: float
    life: float
    authority_life: float
    authority: str = ""
    authority_key: str = field(default="", repr=False)

    def signed(self) -> tuple[Certificate, "Order"]:
        """Return the certificate, and the order for the next one by the same authority; raises ServeError."""
        answer = _ask(json.dumps(asdict(self)))
        if "refused" in answer:
            raise ServeError(answer["refused"])
        said = answer["certificate"]
        chain, key, authority = (said[name].encode() for name in ("chain", "key", "authority"))
        certificate = Certificate(chain, key, tuple(said["names"]), said["not_after"], authority)
        return certificate, replace(self, authority=said["authority"], authority_key=answer["authority_key"])


def _ask(order: str) -> dict[str, Any]:
    try:
        ran = subprocess.run(  # noqa: S603 - our own program, and no shell
            [*BARE, str(_PROGRAM)],
            input=order.encode(),
            capture_output=True,
            env=environment(),
            timeout=_SECONDS,
            check=True,
        )
        answer: dict[str, Any] = json.loads(ran.stdout)
    except (OSError, subprocess.SubprocessError) as error:
        raise ServeError(f"no certificate can be signed, because the process for it fails: {error}") from error
    return answer
