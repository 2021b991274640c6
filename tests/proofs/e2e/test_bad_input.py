"""What goes wrong at an installation: one message says what, and what to do, and it is not said without end."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from tests.proofs.e2e.accounts import account
from tests.proofs.e2e.flow import say, shows
from tests.proofs.rig.api import Object, at_rest, named, until
from tests.proofs.rig.authority import Authority
from tests.proofs.rig.interpreter import Interpreter, run, start
from tests.proofs.rig.kubeconfig import write_kubeconfig
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.processes import free_port
from tests.support.waiting import HANG

_NAME = "bad-input"
_HOST = "localhost"
_KARTA = Path(__file__).parents[3] / "kartas" / "apps" / "v1" / "Deployment" / "karta.yaml"
_REGISTRATION = named("config.karmada.io/v1alpha1", "ResourceInterpreterWebhookConfiguration", _NAME)
_SERVICE = named("v1", "Service", _NAME, "karmada-system") | {"spec": {"type": "ExternalName", "externalName": _HOST}}
_QUIET_SECONDS = 5.0
_LIVES = [timedelta(seconds=seconds) for seconds in (8, 32, 128)]
"""How long a certificate lives that expires: on a busy machine the first may expire before the server is ready."""


pytestmark = pytest.mark.usefixtures("installed")


@pytest.fixture(scope="module")
def administrators(plane: ControlPlane) -> Iterator[Path]:
    """A kubeconfig with all rights: the server's own may register under its usual name only."""
    yield _kubeconfig(plane, "administrator")
    plane.karmada.delete(_REGISTRATION)


@contextmanager
def _serving(plane: ControlPlane, config: Path, *options: str | Path) -> Iterator[Interpreter]:
    """Start a server of one kind, of which there are no objects: what is registered is never called."""
    address = _HOST, free_port()
    common = ("--no-catalogue", "--kartas", _KARTA, "--register", "--registration-name", _NAME, "--grace-period", "0")
    by_url = not any(str(option).startswith("--service") for option in options)
    at = [f"--public-url=https://{address[0]}:{address[1]}"] if by_url else []
    name = f"{_NAME}-{address[1]}"
    server = start(plane.processes, name, address, None, *common, *at, "--kubeconfig", config, *options)
    try:
        yield server
    finally:
        server.terminate()
        server.process.child.wait(HANG)


def _kubeconfig(
    plane: ControlPlane, name: str, user: Object | None = None, *, port: int = 0, authority: Authority | None = None
) -> Path:
    file = plane.folder / f"{name}.config"
    return write_kubeconfig(file, port or plane.karmada.port, authority or plane.authority, user)


def _without_rights(plane: ControlPlane) -> Path:
    _, token = account(plane.karmada, _NAME)
    return _kubeconfig(plane, "no-rights", {"token": token})


def _stranger(plane: ControlPlane) -> Authority:
    folder = plane.folder / f"stranger-{free_port()}"
    return Authority(folder)


def _complaints(server: Interpreter) -> list[str]:
    """What the log warns of, with the reasons, but for the address and questions of `doctor` about unknown kinds."""
    logged = [line for line in server.logged() if line["level"] in {"warning", "error"}]
    expected = {"the URL is one of this machine"}  # where Karmada runs, too
    bad = [line for line in logged if not (line.get("kind", "").startswith("doctor.") or line["message"] in expected)]
    return [" ".join([line["message"], *line.get("reasons", []), line.get("reason", "")]).strip() for line in bad]


def _said(server: Interpreter, words: str) -> str:
    """Wait until the log complains in these words, and return the line."""

    def matches() -> str:
        return next((line for line in _complaints(server) if words in line), "")

    line = until(f"the log says {words}", matches)
    say(f"  {line}")
    return line


def _registered(plane: ControlPlane, client: Object) -> None:
    """Wait until Karmada is told to call there."""

    def matches() -> bool:
        webhooks = (plane.karmada.find(_REGISTRATION) or {}).get("webhooks", [])
        return bool(webhooks) and all(shows(webhook["clientConfig"], client) for webhook in webhooks)

    until(f"{client} is registered", matches)


def _asked(config: Path, *options: str | Path) -> str:
    done = run("doctor", "--kubeconfig", config, "--name", _NAME, *options)
    say("".join(f"  {line}\n" for line in done.stdout.splitlines()))
    assert done.returncode == 1, "doctor has found a problem"
    return done.stdout


@pytest.mark.parametrize(
    ("config", "causes", "diagnosis"),
    [
        pytest.param(
            _without_rights,
            [
                '"resources": ["kartas"], "verbs": ["list", "watch"]',
                "cannot register: GET",
                "changes by others go unnoticed",
                '"resources": ["customresourcedefinitions"]',
                "cannot register: PATCH",
            ],
            '"resources": ["resourceinterpreterwebhookconfigurations"], "verbs": ["list"]',
            id="no RBAC",
        ),
        pytest.param(
            lambda plane: _kubeconfig(plane, "no-karmada", port=plane.members["member1"].port),
            [
                "kartas.run.ai: is the CRD installed there, and",
                "has to be that of karmada-apiserver, not of the cluster",
            ],
            "this is not a Karmada",
            id="no CRD: the kubeconfig of the wrong cluster",
        ),
        pytest.param(
            lambda plane: _kubeconfig(plane, "ended", {"token": "of-yesterday"}),
            ["definitions cannot be read", "cannot register: "],
            "renew the token or client certificate",
            id="credentials that have ended",
        ),
        pytest.param(
            lambda plane: _kubeconfig(plane, "another-ca", {"token": "any"}, authority=_stranger(plane)),
            ["definitions cannot be read", "put the CA that signed it into the kubeconfig"],
            "put the CA that signed it into the kubeconfig",
            id="the wrong CA",
        ),
        pytest.param(
            lambda plane: _kubeconfig(plane, "nowhere", {"token": "any"}, port=free_port()),
            ["definitions cannot be read", "connection refused, nothing listens there"],
            "connection refused, nothing listens there",
            id="the wrong address",
        ),
    ],
)
def test_unusable_kubeconfig_is_reported(
    plane: ControlPlane, config: Callable[[ControlPlane], Path], causes: list[str], diagnosis: str
) -> None:
    file = config(plane)
    with _serving(plane, file, "--cluster") as server:
        for cause in causes:
            _said(server, cause)
        time.sleep(_QUIET_SECONDS)
        said = Counter(_complaints(server))
        assert max(said.values()) == 1, "nothing is said twice"
        assert len(said) <= len(causes) + 3, "definitions, references and customizations are read, each by itself"
    assert diagnosis in _asked(file)


def test_file_that_is_no_kubeconfig_ends_the_start(plane: ControlPlane) -> None:
    file = plane.folder / "other.config"
    file.write_text("a shopping list", encoding="utf-8")
    with _serving(plane, file, "--cluster") as server:
        assert server.process.child.wait(HANG) == 1
    message = server.process.log.read_text(encoding="utf-8")
    say(f"  {message.strip()}")
    for told in (message, _asked(file)):
        assert "it is not a kubeconfig; check the file" in told


def test_expired_certificate_ends_the_start(plane: ControlPlane, administrators: Path) -> None:
    chain, key = plane.authority.server("past", _HOST, life=timedelta(seconds=-5))
    with _serving(plane, administrators, "--certificate-file", chain, "--key-file", key) as server:
        assert server.process.child.wait(HANG) == 1
    message = server.process.log.read_text(encoding="utf-8").strip()
    say(f"  {message}")
    assert len(message.splitlines()) == 1
    assert "expired at" in message
    assert "renew it" in message


def test_expiring_certificate_is_reported(plane: ControlPlane, administrators: Path) -> None:
    for life in _LIVES:
        chain, key = plane.authority.server("short", _HOST, life=life)
        pair = ("--certificate-file", chain, "--key-file", key)
        with _serving(plane, administrators, *pair, "--ca-file", plane.authority.file) as server:
            until("it is ready, or its certificate has expired", lambda: _is_late(server) or server.ready())
            if _is_late(server):
                continue
            _registered(plane, {"url": server.url})
            _said(server, "expired at")
            assert not server.ready()
            assert "the certificate has expired" in server.get("/readyz")[1]
            time.sleep(_QUIET_SECONDS)
            assert max(Counter(_complaints(server)).values()) == 1
            assert "it expired at" in _asked(administrators)
            return
    pytest.fail(f"the server is not ready in {_LIVES[-1]}")


def _is_late(server: Interpreter) -> bool:
    return not server.process.alive or bool(_complaints(server))


def test_wrong_authority_is_diagnosed(plane: ControlPlane, administrators: Path) -> None:
    chain, key = plane.authority.server("unsigned", _HOST)
    pair = ("--certificate-file", chain, "--key-file", key)
    with _serving(plane, administrators, *pair, "--ca-file", _stranger(plane).file) as server:
        _registered(plane, {"url": server.url})
        assert "its issuer CN=karta-interpreter e2e is not in the caBundle" in _asked(administrators)
        assert _complaints(server) == []


def test_service_without_endpoints_is_diagnosed(plane: ControlPlane, administrators: Path) -> None:
    port = free_port()
    plane.karmada.apply(_SERVICE)
    try:
        with _serving(plane, administrators, f"--service=karmada-system/{_NAME}:{port}"):
            _registered(plane, {"service": {"name": _NAME, "port": port}})
            diagnosis = _asked(administrators)
            assert f"nothing listens on {_HOST}:{port}" in diagnosis
            assert "that its Service has endpoints (kubectl get endpointslices)" in diagnosis
    finally:
        plane.karmada.delete(_SERVICE)


def test_competing_installations_are_reported(plane: ControlPlane, administrators: Path) -> None:
    with _serving(plane, administrators) as one, _serving(plane, administrators) as other:
        servers = {one.url: one, other.url: other}
        gave_up = until("one of them gives up for now", lambda: _who_said(servers, "is changed again and again"))
        (winner,) = servers.keys() - {gave_up}
        line = _said(servers[gave_up], "is changed again and again")
        assert f"changed by another karta-interpreter, to call {winner} instead of {gave_up}" in line
        assert "Each installation needs its own --registration-name" in line
        at_rest("neither complains any more", lambda: len(_complaints(one)) + len(_complaints(other)))
        metrics = servers[gave_up].get("/metrics")[1]
        assert "karta_interpreter_registration_in_step 0.0" in metrics


def _who_said(servers: Mapping[str, Interpreter], words: str) -> str:
    return next((url for url, server in servers.items() if any(words in line for line in _complaints(server))), "")
