"""What is loaded of kubernetes_asyncio, and the modules and private names of it that pyproject.toml bounds it for."""

import ast
import inspect
import json
import os
import shutil
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from karta_interpreter.definitions.sources import api_server
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.definitions.sources.kubernetes_client import ApiClient, Configuration, kube_config
from tests.definitions.sources.scripted_api import KARTAS, ScriptedApi, serving, write_kubeconfig
from tests.support.examples import few
from tests.support.forking import ask, forking

OURS = "from karta_interpreter.definitions.sources.kubernetes_client import ApiClient, Configuration, kube_config"
SHOW = "import sys; print(*(name for name in sys.modules if name.startswith('kubernetes_asyncio')))"


LIBRARIES = ("asyncio", "aiohttp", "dateutil.parser", "urllib3", "yaml")
"""What kubernetes_asyncio imports of others: programs are forked from a process that has done so."""

Run = Callable[..., list[str]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Run lines as a program; what it prints, by words. ``path`` comes first where it looks for modules."""
    folder = tmp_path_factory.mktemp("programs")

    def run_lines(*lines: str, path: Path | None = None) -> list[str]:
        first = f"import sys; sys.path[:0] = {[str(path)] if path else []}"
        with (folder / "output").open("w+") as output:
            files = [0, output.fileno(), output.fileno()]
            status = ask(address, "\n".join((first, *lines)), ["-c"], files, dict(os.environ))
            output.seek(0)
            printed = output.read()
        assert status == 0, printed
        return printed.split()

    with forking(*LIBRARIES) as address:
        yield run_lines


def is_generated(module: str) -> bool:
    return module.startswith(("kubernetes_asyncio.client.api.", "kubernetes_asyncio.client.models."))


def test_client_loads_no_generated_module(run: Run) -> None:
    modules = run(OURS, SHOW)

    assert "kubernetes_asyncio.client.api_client" in modules
    assert len(modules) < 20
    assert not [name for name in modules if is_generated(name)]


THEIRS = [
    pytest.param("from kubernetes_asyncio.client import CoreV1Api, V1Pod", id="classes"),
    pytest.param("import kubernetes_asyncio; kubernetes_asyncio.client.V1Pod(kind='Pod')", id="by attributes"),
    pytest.param("from kubernetes_asyncio import watch; watch.Watch", id="a subpackage"),
    pytest.param("from kubernetes_asyncio.client import *; V1Pod", id="everything of the client"),
    pytest.param("from kubernetes_asyncio import *; client.V1Pod; dynamic, config", id="everything"),
    pytest.param("import kubernetes_asyncio.client.models as m; m.V1Pod", id="the models"),
    pytest.param("from kubernetes_asyncio.client.models.v1_pod import V1Pod", id="one model"),
    pytest.param(
        """
import asyncio
from kubernetes_asyncio import client

class Answer:
    data = '{"kind": "Pod"}'

async def main():
    async with client.ApiClient(client.Configuration()) as api:
        assert api.deserialize(Answer, "V1Pod").kind == "Pod"

asyncio.run(main())
""",
        id="an answer as a model",
    ),
    pytest.param("from kubernetes_asyncio import __version__; __version__[0]", id="the version"),
]
SAME = (
    "import kubernetes_asyncio.client",
    "assert kubernetes_asyncio.client.V1Pod()",
    "assert kubernetes_asyncio.client.ApiClient is ApiClient",
    "assert kubernetes_asyncio.client.Configuration is Configuration",
)


@pytest.mark.sweep
@pytest.mark.parametrize("theirs", few(THEIRS, "first"))
def test_library_works_when_imported_after_ours(run: Run, theirs: str) -> None:
    run(OURS, theirs, *SAME)


@pytest.mark.slow
def test_library_works_when_imported_before_ours(run: Run) -> None:
    """Whichever import is the first one, the library executes all of its packages."""
    run(*(str(theirs.values[0]) for theirs in THEIRS), OURS, *SAME)


@pytest.fixture(scope="module")
def without_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the library, as an image has it that leaves out the generated code."""
    spec = find_spec("kubernetes_asyncio")
    assert spec
    assert spec.origin
    folder = tmp_path_factory.mktemp("library")
    is_left_out = shutil.ignore_patterns("models", "api", "__pycache__", "*_test.py")
    shutil.copytree(Path(spec.origin).parent, folder / "kubernetes_asyncio", ignore=is_left_out)
    return folder


def test_library_works_without_generated_code(run: Run, without_models: Path) -> None:
    show = "import kubernetes_asyncio; print(kubernetes_asyncio.__file__, ApiClient.__module__)"
    assert run(OURS, show, path=without_models) == [
        str(without_models / "kubernetes_asyncio" / "__init__.py"),
        "kubernetes_asyncio.client.api_client",
    ]


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("hasattr(client, 'V1Pod'), hasattr(client, 'V1Pod')", id="a class, twice"),
        pytest.param("hasattr(client.models, 'V1Pod'), hasattr(client, 'V1Pod')", id="a model", marks=pytest.mark.slow),
    ],
)
def test_code_that_is_missing_is_no_attribute(run: Run, without_models: Path, code: str) -> None:
    assert run(OURS, f"from kubernetes_asyncio import client; print({code})", path=without_models) == ["False"] * 2


def test_tools_that_look_at_every_module_execute_none(run: Run) -> None:
    look = "import sys; [hasattr(each, '__wrapped__') for each in [*sys.modules.values()]]"

    assert not [name for name in run(OURS, look, SHOW) if is_generated(name)]


def test_used_private_names_of_library_exist() -> None:
    tree = ast.parse(inspect.getsource(api_server))
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)]
    assert {node.attr for node in nodes if node.value.id == "kube_config"} == {  # type: ignore[attr-defined] # a Name
        "load_kube_config",
        "_cleanup_temp_files",
    }
    assert not inspect.signature(kube_config._cleanup_temp_files).parameters  # noqa: SLF001 - see the name of this test
    assert {"_preload_content", "_request_timeout"} <= inspect.signature(ApiClient.call_api).parameters.keys()
    assert hasattr(Configuration(), "disable_strict_ssl_verification")


API_VERSION = "client.authentication.k8s.io/v1"
CREDENTIAL = json.dumps({"apiVersion": API_VERSION, "kind": "ExecCredential", "status": {"token": "of-a-program"}})
PLUGIN = {"apiVersion": API_VERSION, "command": "echo", "args": [CREDENTIAL], "interactiveMode": "Never"}


@pytest.mark.parametrize(
    ("user", "sent"),
    [
        pytest.param({"token": "secret"}, "Bearer secret", id="a token"),
        pytest.param({"tokenFile": "token"}, "Bearer of-a-file", id="a file with a token"),
        pytest.param({"exec": PLUGIN}, "Bearer of-a-program", id="a program that prints one"),
        pytest.param({"username": "me", "password": "1"}, "Basic bWU6MQ==", id="a password"),
    ],
)
async def test_credentials_of_a_kubeconfig(tmp_path: Path, user: dict[str, Any], sent: str) -> None:
    (tmp_path / "token").write_text("of-a-file")
    async with serving(ScriptedApi()) as scripted:
        file = write_kubeconfig(tmp_path / "config", scripted.url)
        config = json.loads(file.read_text())
        config["users"][0]["user"] = user
        file.write_text(json.dumps(config))
        async with ApiServer.of(file) as api:
            await api.get(KARTAS)
        (asked,) = scripted.requests("get")

    assert asked.headers["Authorization"] == sent
