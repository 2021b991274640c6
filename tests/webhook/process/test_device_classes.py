"""A server knows templates of claims and classes of devices only with the setting that counts them."""

from pathlib import Path

import pytest

from karta_interpreter.base.k8s import CLAIM_TEMPLATES, DEVICE_CLASSES, GVK
from karta_interpreter.definitions.sources.reference_cache import ReferenceCache
from karta_interpreter.webhook.process.server import Server
from karta_interpreter.webhook.settings import Settings
from tests.definitions.sources.scripted_api import write_kubeconfig


@pytest.mark.parametrize(
    ("classes", "kinds"),
    [
        pytest.param((), set(), id="without the setting"),
        pytest.param(("auto",), {*CLAIM_TEMPLATES, *DEVICE_CLASSES}, id="with the setting"),
    ],
)
async def test_server_wants_claims_with_the_setting(tmp_path: Path, classes: tuple[str, ...], kinds: set[GVK]) -> None:
    kubeconfig = write_kubeconfig(tmp_path / "config", "http://127.0.0.1:9")
    settings = Settings(cluster=True, kubeconfig=kubeconfig, catalogue=False, plain_http=True, device_classes=classes)
    server = Server(settings)
    server._store.load()  # noqa: SLF001 - what it wants is private
    cache = server._store.reader  # noqa: SLF001

    assert isinstance(cache, ReferenceCache)
    assert {gvk for gvk in cache._wanted if gvk.group == "resource.k8s.io"} == kinds  # noqa: SLF001
