"""The token of the kubeconfig, which nothing renews."""

from collections.abc import Iterator
from math import inf

from karta_interpreter.definitions.sources.token_life import TokenLife
from karta_interpreter.webhook.doctor.result import IS_IN_POD, CheckResult, ok, problem, warning

_CHECK = "token"
_URGENT_SECONDS, _URGENT_SHARE = 7 * 86_400, 10
_ADVICE = "make a kubeconfig with a new token, as docs/install.md writes it (The kubeconfig of the server)"


def judge_token(life: TokenLife | None, now: float) -> Iterator[CheckResult]:
    """Check that a token stays valid for a while, and not for ever. Yields nothing for other credentials."""
    if life is None:
        return
    if life.end == inf:
        # Elsewhere the kubeconfig is that of a person.
        if IS_IN_POD:
            yield warning(_CHECK, "the token of the kubeconfig never ends: whoever takes it has it for ever", _ADVICE)
        return
    found = f"the token of the kubeconfig ends at {life}"
    if life.end - now < min(_URGENT_SECONDS, (life.end - life.begin) / _URGENT_SHARE):
        yield problem(_CHECK, found, _ADVICE)
    elif life.ends_soon(now):
        yield warning(_CHECK, found, _ADVICE)
    else:
        yield ok(_CHECK, found)
