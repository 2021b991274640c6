"""The program of a process that signs one certificate and ends: a server that has one needs no part of it any more.

It is sent an `Order` as JSON, and sends back what became of it.
"""

import json
import sys
from dataclasses import asdict
from datetime import UTC, datetime, timedelta

from karta_interpreter.errors import ServeError
from karta_interpreter.pki.authority import Authority
from karta_interpreter.pki.order import Order


def main() -> None:
    """Sign what is ordered."""
    json.dump(_answer(Order(**json.load(sys.stdin))), sys.stdout)


def _answer(order: Order) -> dict[str, object]:
    try:
        return _sign(order)
    except ServeError as error:
        return {"refused": str(error)}


def _sign(order: Order) -> dict[str, object]:
    now = datetime.fromtimestamp(order.now, UTC)
    authority = (
        Authority.load(order.authority.encode(), order.authority_key.encode())
        if order.authority
        else Authority.create(now, timedelta(seconds=order.authority_life))
    )
    signed = authority.issue(order.names, now, timedelta(seconds=order.life))
    texts = {name: value.decode() if isinstance(value, bytes) else value for name, value in asdict(signed).items()}
    return {"certificate": texts, "authority_key": authority.key_pem.decode()}


if __name__ == "__main__":
    main()
