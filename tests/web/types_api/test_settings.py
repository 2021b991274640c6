import ssl
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession

from karta_interpreter.base.errors import ServeError
from karta_interpreter.web.types_api.models import Choices
from karta_interpreter.web.types_api.records import controller_of, writer_of
from karta_interpreter.webhook.process.server import Server
from karta_interpreter.webhook.settings import Settings
from tests.support.waiting import HANG
from tests.web.console.in_loop import in_loop

LOOPBACK = ("127.0.0.1", 0)
EVERYWHERE = ("0.0.0.0", 0)  # noqa: S104 - never bound to


def settings(tmp_path: Path, **changes: Any) -> Settings:
    (tmp_path / "tokens").write_text("a-token-of-tests-0123456789")
    given: dict[str, Any] = {"types_api": LOOPBACK, "types_folder": tmp_path, "types_token_file": tmp_path / "tokens"}
    return Settings(port=0, catalogue=False, **{"plain_http": True} | given | changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"types_folder": None}, "give --cluster or --types-folder", id="no place for types"),
        pytest.param({"types_token_file": None}, "give --types-token-file or --cluster", id="no access"),
        pytest.param({"cluster": True}, "leave out --cluster or --types-folder", id="two places for types"),
        pytest.param({"types_api": EVERYWHERE}, "needs TLS: leave out --plain-http", id="no TLS beyond loopback"),
        pytest.param({"types_api": ("example.invalid", 0)}, "needs TLS", id="a name may be any address"),
        pytest.param({"types_categories": ()}, "needs a category and a priority", id="no category"),
        pytest.param({"types_categories": ("A", "a")}, "a name of its own", id="one category twice"),
        pytest.param({"types_categories": ("a b",)}, "is not a name of a category", id="no label value"),
        pytest.param({"types_priorities": ("high",)}, "write NAME=VALUE", id="a priority without a value"),
        pytest.param({"types_priorities": ("a=1", "A=2")}, "a name of its own", id="one priority twice"),
    ],
)
async def test_settings_that_contradict_each_other_end_the_start(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    config = tmp_path / "kubeconfig"
    config.write_text("{}")
    with pytest.raises(ServeError, match=message):
        async with Server(settings(tmp_path, kubeconfig=config, **changes), [in_loop({})]):
            pass


async def test_beyond_loopback_the_api_has_the_certificate_of_the_server(tmp_path: Path) -> None:
    urls: dict[str, str] = {}
    given = settings(tmp_path, types_api=EVERYWHERE, plain_http=False)
    async with Server(given, [in_loop(urls)]) as server:
        address = urls["workload types API"]
        assert address.startswith("https://0.0.0.0:")
        certificate = server.started.certificate
        assert certificate
        assert certificate.authority
        trusting = ssl.create_default_context(cadata=certificate.authority.decode())
        url = f"https://127.0.0.1:{address.rpartition(':')[2]}/api/v1/workload-categories"
        async with ClientSession() as session, session.get(url, ssl=trusting) as answer:
            assert answer.status == 401


def test_server_without_types_api_imports_nothing_of_it() -> None:
    program = (
        "import sys, karta_interpreter.cli.serve, karta_interpreter.webhook.process.control_plane; print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=HANG, check=True)
    assert [name for name in done.stdout.split() if name.startswith("karta_interpreter.web.console")] == []


async def test_taken_address_ends_the_start(tmp_path: Path) -> None:
    async with Server(settings(tmp_path), []) as server:
        taken = settings(tmp_path, types_api=("127.0.0.1", server.started.port))
        with pytest.raises(ServeError, match="another process listens there"):
            async with Server(taken, [in_loop({})]):
                pass


@pytest.mark.parametrize(
    ("categories", "priorities", "ids"),
    [
        pytest.param(["Build"], ["low=1", "high=2"], ["low", "high"], id="as they are given"),
        pytest.param(["Build"], ["high=2", "low=-1"], ["low", "high"], id="by value"),
    ],
)
def test_priorities_are_sorted_by_value(categories: Sequence[str], priorities: Sequence[str], ids: list[str]) -> None:
    assert list(Choices.of(categories, priorities).priorities) == ids


@pytest.mark.parametrize(
    ("metadata", "owner"),
    [
        pytest.param(
            {"labels": {"argocd.argoproj.io/instance": "mills"}}, "the Argo CD application mills", id="Argo CD by label"
        ),
        pytest.param(
            {"annotations": {"argocd.argoproj.io/tracking-id": "mills:run.ai/Karta:/x"}},
            "the Argo CD application mills",
            id="Argo CD by annotation",
        ),
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
        pytest.param(
            {"labels": {"helm.toolkit.fluxcd.io/name": "mills"}}, "the Flux HelmRelease mills", id="Flux with Helm"
        ),
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
)
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
