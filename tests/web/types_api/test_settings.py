import asyncio
import socket
import ssl
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from click.testing import CliRunner

from karta_interpreter.base.errors import ClusterError, ServeError
from karta_interpreter.cli import types_api as command
from karta_interpreter.cli.program import program
from karta_interpreter.web.types_api import api
from karta_interpreter.web.types_api.api import serving
from karta_interpreter.web.types_api.models import Choices
from karta_interpreter.web.types_api.records import controller_of, writer_of
from karta_interpreter.web.types_api.settings import TypesSettings
from tests.support.rows import rows
from tests.webhook.http.pairs import chain_pem, key_pem, new_key

EVERYWHERE = "0.0.0.0"  # noqa: S104 - for a test of TLS


def settings(tmp_path: Path, **changes: Any) -> TypesSettings:
    (tmp_path / "tokens").write_text("a-token-of-tests-0123456789")
    given: dict[str, Any] = {"types_folder": tmp_path, "types_token_file": tmp_path / "tokens"}
    return TypesSettings(**{"port": 0, "catalogue": False} | given | changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"types_folder": None}, "give --cluster or --types-folder", id="no place for types"),
        pytest.param({"types_token_file": None}, "give --types-token-file or --cluster", id="no access"),
        pytest.param({"cluster": True}, "leave out --cluster or --types-folder", id="two places for types"),
        pytest.param({"host": EVERYWHERE}, "needs TLS: give --certificate-file", id="no TLS beyond loopback"),
        pytest.param({"host": "example.invalid"}, "needs TLS", id="a name may be any address"),
        pytest.param({"certificate_file": Path("tls.crt")}, "a certificate needs its key", id="half of a pair"),
        pytest.param({"types_categories": ("A", "a")}, "a name of its own", id="one category twice"),
        pytest.param({"types_priorities": ("high",)}, "write NAME=VALUE", id="a priority without a value"),
    ],
)
async def test_settings_that_contradict_each_other_end_the_start(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    config = tmp_path / "kubeconfig"
    config.write_text('{"current-context": "a", "contexts": [{"name": "a"}]}')
    with pytest.raises(ServeError, match=message):
        async with serving(settings(tmp_path, kubeconfig=config, **changes)):
            pass


async def test_missing_kubeconfig_ends_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    with pytest.raises(ClusterError, match="there is no such file"):
        async with serving(settings(tmp_path, cluster=True, types_folder=None)):
            pass


async def test_renewed_certificate_is_served_to_new_connections(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "_CERTIFICATE_SECONDS", 0.01)
    keys, pair = (new_key(), new_key()), (tmp_path / "tls.crt", tmp_path / "tls.key")
    chains = [chain_pem(key, (name,)) for key, name in zip(keys, ("old", "new"), strict=True)]
    pair[0].write_bytes(chains[0])
    pair[1].write_bytes(key_pem(keys[0]))
    given = settings(tmp_path, host=EVERYWHERE, certificate_file=pair[0], key_file=pair[1])
    async with serving(given) as url:
        assert url.startswith("https://0.0.0.0:")
        port = int(url.rpartition(":")[2])
        for name in ("localhost", None):
            assert await shown(port, name) == chains[0]
        pair[0].write_bytes(chains[1])
        pair[1].write_bytes(key_pem(keys[1]))
        for name in ("localhost", None):
            while await shown(port, name) != chains[1]:
                pass


async def shown(port: int, name: str | None) -> bytes:
    """The certificate that a client sees, which names the server unless it knows an address only."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    found = await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname=name or "")
    certificate = ssl.DER_cert_to_PEM_cert(found[1].get_extra_info("ssl_object").getpeercert(binary_form=True))
    found[1].close()
    return certificate.encode()


async def test_taken_port_ends_the_start(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        hint = f"cannot listen on 127.0.0.1 port {port}: another process listens there"
        with pytest.raises(ServeError, match=hint):
            async with serving(settings(tmp_path, port=port)):
                pass


async def test_definitions_that_are_left_out_are_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pod = tmp_path / "pod.yaml"
    pod.write_text("{apiVersion: v1, kind: Pod, metadata: {name: a}}")
    async with serving(settings(tmp_path, folders=(pod,), kinds=("RayCluter",))):
        assert {"a named kind has no definition", "definition quarantined"} <= {*caplog.messages}


async def test_probe_needs_no_token(tmp_path: Path) -> None:
    async with serving(settings(tmp_path)) as url, ClientSession() as session, session.get(f"{url}/healthz") as answer:
        assert (answer.status, await answer.text()) == (200, "ok\n")


def test_options_are_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[TypesSettings] = []
    monkeypatch.setattr(command, "run", lambda settings, **_: taken.append(settings))
    arguments = ["--types-folder", str(tmp_path), "--types-category", "Serve", "--no-catalogue", "--kinds", "JobSet"]
    result = CliRunner().invoke(program, ["types-api", *arguments], env={"KARTA_INTERPRETER_PORT": "9444"})
    assert (result.exit_code, result.output) == (0, "")
    wanted: dict[str, Any] = {
        "types_folder": tmp_path,
        "types_categories": ("Serve",),
        "catalogue": False,
        "kinds": ("JobSet",),
    }
    assert taken == [TypesSettings(port=9444, **wanted)]
    options = {option.name for section in command.OPTIONS.values() for option in section}
    assert {field.name for field in fields(TypesSettings)} - options == {"rate", "judge_seconds"}


@pytest.mark.parametrize(
    ("categories", "priorities", "ids"),
    [
        pytest.param(["Build"], ["low=1", "high=2"], ["low", "high"], id="as they are given"),
        pytest.param(["Build"], ["high=2", "low=-1"], ["low", "high"], id="by value"),
    ],
)
def test_priorities_are_sorted_by_value(categories: Sequence[str], priorities: Sequence[str], ids: list[str]) -> None:
    assert list(Choices.of(categories, priorities).priorities) == ids


@rows(
    ("metadata", "owner"),
    [
        pytest.param({"labels": {"argocd.argoproj.io/instance": "mills"}}, "the Argo CD application mills",
            id="Argo CD by label"),
        pytest.param({"annotations": {"argocd.argoproj.io/tracking-id": "mills:run.ai/Karta:/x"}},
            "the Argo CD application mills", id="Argo CD by annotation"),
        pytest.param(
            {
                "labels": {
                    "kustomize.toolkit.fluxcd.io/name": "mills",
                    "kustomize.toolkit.fluxcd.io/namespace": "flux-system",
                }
            },
            "the Flux Kustomization flux-system/mills",
            id="Flux",
        ),
        pytest.param({"labels": {"helm.toolkit.fluxcd.io/name": "mills"}}, "the Flux HelmRelease mills",
            id="Flux with Helm"),
        pytest.param(
            {"annotations": {"meta.helm.sh/release-name": "mills", "meta.helm.sh/release-namespace": "bakery"}},
            "the Helm release bakery/mills",
            id="Helm",
        ),
        pytest.param({"ownerReferences": [{"kind": "Mill", "name": "rye"}]}, "the Mill rye", id="an object"),
        pytest.param({"labels": {"app.kubernetes.io/managed-by": "sack"}}, "sack", id="another tool"),
        pytest.param({"labels": {"app": "mill"}, "annotations": {"a": "b"}}, None, id="nobody"),
        pytest.param({"labels": 1, "annotations": [], "ownerReferences": {}}, None, id="fields of other types"),
    ],
)  # fmt: skip
def test_owner_of_object_is_named(metadata: Any, owner: str | None) -> None:
    assert controller_of({"metadata": metadata}) == owner
    assert writer_of({"metadata": metadata}) == owner or owner is None


def test_last_manager_of_spec_is_its_writer() -> None:
    managed = [
        {"manager": "kubectl-edit", "time": "2026-02-01T00:00:00Z", "fieldsV1": {"f:spec": {}}},
        {"manager": "kubectl", "time": "2026-01-01T00:00:00Z", "fieldsV1": {"f:spec": {}}},
        {"manager": "karta-interpreter", "time": "2026-03-01T00:00:00Z", "fieldsV1": {"f:status": {}}},
    ]
    assert writer_of({"metadata": {"managedFields": managed}}) == "kubectl-edit"
