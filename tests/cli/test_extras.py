"""Commands without the extras of the package: what needs none works, the others name theirs."""

import json
import os
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from karta_interpreter.cli.program import COMMANDS, EXTRAS
from tests.definitions.sources.scripted_api import write_kubeconfig
from tests.support.forking import ask

RunForked = Callable[..., tuple[int, str, str]]
Without = Callable[..., list[tuple[int, str, str]]]

ROOT = Path(__file__).parents[2]
KARTA = str(ROOT / "docs" / "examples" / "trainjob.yaml")
CUSTOMIZATION = str(ROOT / "docs" / "examples" / "trainjob-customization.yaml")
CRD = str(ROOT / "docs" / "examples" / "trainjob-crd.yaml")

PROGRAM = """
import json, sys
missing = json.loads(sys.argv[1])
assert not [name for name in missing if name in sys.modules and not name.startswith("karta_interpreter.")]
sys.modules.update(dict.fromkeys(missing))  # None: there is no such module
from click.testing import CliRunner
from karta_interpreter.cli.program import program
results = [CliRunner().invoke(program, line) for line in json.loads(sys.argv[2])]
print(json.dumps([[each.exit_code, each.stderr, repr(each.exception)] for each in results]))
"""

WORKING = [
    ["interpret", "-f", "karta.yaml", "--observed-file", "job.yaml"],
    ["explain", "-f", "karta.yaml", "job.yaml"],
    ["tree", "-f", "karta.yaml", "--object", "job.yaml"],
    ["validate", KARTA, CUSTOMIZATION, "--crd", CRD],
    ["query", ".spec.replicas", "--object", "job.yaml"],
    ["test", str(ROOT / "kartas" / "ray.io")],
    ["diff", "--from", "karta.yaml", "--to", "karta.yaml", "--object", "job.yaml"],
    ["replay", str(ROOT / "docs/examples/recordings"), "--to", str(ROOT / "docs/examples/trainjob.yaml")],
    ["verify", str(ROOT / "docs/examples/member"), "-f", str(ROOT / "kartas/apps"), "--kinds", "Deployment"],
    ["catalogue", "list"],
    ["catalogue", "show", "RayCluster"],
    ["create", "karta", "--crd", CRD],
    ["create", "suite", "-f", "karta.yaml", "--object", "job.yaml"],
    ["export", "crd"],
    ["export", "json-schema"],
    ["export", "webhook-configuration", "-f", "karta.yaml", "--service", "system/interpreter"],
    ["export", "customization", "-f", "karta.yaml"],
    ["export", "argocd-health", "-f", "karta.yaml"],
    ["unregister", "--help"],
    ["completion", "bash"],
]
FAILING = {
    "serve": (["serve"], "cryptography"),
    "doctor": (["doctor"], "cryptography"),
    "unregister": (["unregister", "--kubeconfig", "config"], "aiohttp"),
    "the CRDs of a cluster": (["validate", KARTA, "--kubeconfig", "config"], "aiohttp"),
    "a member": (["verify", "-f", "karta.yaml", "--kubeconfig", "config"], "aiohttp"),
    "a CA": (["export", "webhook-configuration", "--url", "https://a.example", "--ca-file", "ca.pem"], "cryptography"),
}
"""Command lines and the first library that each of them misses."""


@pytest.fixture
def run_forked(forks: str, tmp_path_factory: pytest.TempPathFactory) -> RunForked:
    """Run code as a program, in a process that has imported the commands; return its status, stdout and stderr."""

    def run(code: str, *arguments: str) -> tuple[int, str, str]:
        folder = tmp_path_factory.mktemp("run")
        with (folder / "stdout").open("w+") as stdout, (folder / "stderr").open("w+") as stderr:
            files = [stdout.fileno(), stdout.fileno(), stderr.fileno()]
            status = ask(forks, code, ["-c", *arguments], files, dict(os.environ))
        return status, (folder / "stdout").read_text(), (folder / "stderr").read_text()

    return run


@pytest.fixture
def without(run_forked: RunForked) -> Without:
    """The exit code, stderr and exception of each command line in a process that lacks some libraries."""

    def run(libraries: list[str], *lines: list[str]) -> list[tuple[int, str, str]]:
        status, stdout, stderr = run_forked(PROGRAM, json.dumps(libraries), json.dumps(lines))
        assert (status, stderr) == (0, "")
        return [tuple(each) for each in json.loads(stdout)]

    return run


def test_extras_are_those_of_the_package() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    libraries = {
        extra: sorted(each.partition(">")[0].replace("-", "_") for each in requirements)
        for extra, requirements in extras.items()
    }

    assert {extra: sorted(each) for extra, each in EXTRAS.items()} == libraries


@pytest.mark.usefixtures("files")
def test_commands_on_files_need_no_extra(without: Without) -> None:
    assert {line[0] for line in WORKING} | {"serve", "doctor", "console", "types-api"} == COMMANDS.keys()

    results = without([*EXTRAS["server"]], *WORKING)

    failed = [(line, *result) for line, result in zip(WORKING, results, strict=True) if result[0]]
    assert not failed


def test_command_names_missing_extra(files: Path, without: Without) -> None:
    write_kubeconfig(files / "config", "http://127.0.0.1:1")
    (files / "ca.pem").write_text("hello")

    results = without([*EXTRAS["server"]], *(line for line, _ in FAILING.values()))

    pip = "pip install 'karta-interpreter[server]' or '.[server]'"
    assert [(code, stderr) for code, stderr, _ in results] == [
        (2, f"error: {line[0]} requires {library}; install its extra: {pip}\n") for line, library in FAILING.values()
    ]


def test_console_has_its_own_extra(without: Without) -> None:
    others = {*EXTRAS["server"]} - {*EXTRAS["console"]}
    ((code, stderr, _),) = without([*EXTRAS["server"]], ["console"])
    ((works, _, _),) = without([*others], ["console", "--help"])

    pip = "pip install 'karta-interpreter[console]' or '.[console]'"
    assert (code, stderr, works) == (2, f"error: console requires aiohttp; install its extra: {pip}\n", 0)


def test_cluster_needs_server_extra(files: Path, without: Without) -> None:
    write_kubeconfig(files / "config", "http://127.0.0.1:1")

    ((code, stderr, _),) = without(["kubernetes_asyncio"], ["unregister", "--kubeconfig", "config"])

    pip = "pip install 'karta-interpreter[server]' or '.[server]'"
    assert (code, stderr.partition(":")[2]) == (
        2,
        f" unregister requires kubernetes_asyncio; install its extra: {pip}\n",
    )


def test_any_other_module_that_is_missing_is_a_defect(files: Path, without: Without) -> None:
    ((code, _, exception),) = without(["karta_interpreter.cli.tree"], ["tree", "--object", str(files / "job.yaml")])

    assert code == 1
    assert exception.startswith("ModuleNotFoundError")


@pytest.mark.parametrize("command", ["serve", "doctor"])
def test_completion_of_a_command_without_its_extra_is_empty(command: str, run_forked: RunForked) -> None:
    program = f"""
import json, sys
sys.modules.update(dict.fromkeys({EXTRAS["server"]}))
sys.argv[1:] = ["{command}", "--"]
from karta_interpreter.cli import kubectl_complete
kubectl_complete()
"""
    status, _, stderr = run_forked(program)

    assert (status, stderr) == (0, "")
