"""The end of the token in a kubeconfig is known, and is said early."""

import base64
import json
import logging
from collections import deque
from pathlib import Path
from typing import Any

import pytest
import yaml

from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.definitions.sources.token_life import TokenLife, TokenWatch

DAY, YEAR = 86_400.0, 365 * 86_400.0


def token(**claims: Any) -> str:
    """A JSON Web Token as an API server writes it."""
    parts = [{"alg": "RS256"}, {"sub": "system:serviceaccount:karmada-system:karta-interpreter", **claims}]
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    return ".".join([*encoded, "c2lnbmF0dXJl"])


def kubeconfig(path: Path, text: str) -> Path:
    user = {"name": "server", "user": {"token": text}}
    context = {"name": "karmada", "context": {"cluster": "karmada", "user": "server"}}
    cluster = {"name": "karmada", "cluster": {"server": "https://127.0.0.1:1"}}
    content = {"current-context": "karmada", "contexts": [context], "clusters": [cluster], "users": [user]}
    path.write_text(yaml.safe_dump(content))
    return path


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("0123456789abcdef", id="of a token file"),
        pytest.param("a.b.c", id="three parts of something else"),
        pytest.param("a.WyJleHAiXQ.c", id="a list"),
        pytest.param(token(exp="soon"), id="no time"),
        pytest.param(token(exp=-1e20), id="a time that no calendar has"),
        pytest.param(token(exp=float("nan")), id="not a number"),
        pytest.param(f"a.{base64.urlsafe_b64encode(b'[' * 200_000).decode()}.c", id="nested without end"),
        pytest.param("", id="none"),
    ],
)
def test_other_token_has_no_life(text: str) -> None:
    assert TokenLife.of(text) is None


@pytest.mark.parametrize(
    ("claims", "now", "soon"),
    [
        pytest.param({"iat": 0, "exp": YEAR}, YEAR - 31 * DAY, False, id="31 days of a year are left"),
        pytest.param({"iat": 0, "exp": YEAR}, YEAR - 29 * DAY, True, id="29 days of a year are left"),
        pytest.param({"iat": 0, "exp": 3 * DAY}, 1.9 * DAY, False, id="more than a third of three days"),
        pytest.param({"iat": 0, "exp": 3 * DAY}, 2.1 * DAY, True, id="less than a third of three days"),
        pytest.param({"iat": 0, "exp": DAY}, 2 * DAY, True, id="it has ended"),
        pytest.param({"exp": 40 * DAY}, 0, False, id="without a beginning, 40 days are left"),
        pytest.param({}, YEAR, False, id="never ends"),
    ],
)
def test_end_is_soon_by_days_and_by_life(claims: dict[str, float], now: float, *, soon: bool) -> None:
    life = TokenLife.of(token(**claims))
    assert life
    assert life.ends_soon(now) is soon


async def test_watch_logs_end_once_a_day_and_sees_new_token(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    config, times = kubeconfig(tmp_path / "config", token(iat=0, exp=YEAR)), deque[float]()
    watch = TokenWatch(ApiServer.of(config).token_life, times.popleft)
    with caplog.at_level(logging.WARNING):
        for now in (YEAR - 40 * DAY, YEAR - 20 * DAY, YEAR - 20 * DAY + 600, YEAR - 19 * DAY):
            times.append(now)
            await watch.look()
    assert watch.end == YEAR
    said = (
        "the token of the kubeconfig ends at 1971-01-01 00:00 UTC: make a kubeconfig with a new one (docs/install.md)"
    )
    assert caplog.messages == [said] * 2

    kubeconfig(config, token(iat=YEAR, exp=2 * YEAR))
    times.append(YEAR)
    await watch.look()
    assert watch.end == 2 * YEAR


@pytest.mark.parametrize("content", ["", "kind: Secret", "users: [{name: a, user: {client-key-data: x}}]"])
async def test_watch_goes_on_without_a_token(content: str, tmp_path: Path) -> None:
    (tmp_path / "config").write_text(content)
    watch = TokenWatch(ApiServer.of(tmp_path / "config").token_life)
    await watch.look()
    assert watch.end == float("inf")
