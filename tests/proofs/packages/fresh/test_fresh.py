"""An installed package without a checkout: what it brings, what works, and what an extra adds."""

import json
import re
import shutil
import signal
import subprocess
import urllib.request
from pathlib import Path

import pytest

from karta_interpreter.definitions.karta import catalogue_kinds
from tests.proofs.packages.fresh.conftest import Environment
from tests.support.waiting import HANG

ROOT = Path(__file__).parents[4]
OBJECT = ROOT / "tests" / "catalogue" / "manifests" / "raycluster.yaml"
LARGEST = 60_000_000
SERVER = {"aiohttp", "cryptography", "kubernetes-asyncio", "prometheus-client", "uvloop", "watchfiles"}
BASE = {"click", "google-re2", "jq", "lupa", "msgspec", "orjson", "pydantic", "pyyaml"}
OF_PIP = re.compile(r"pip|setuptools|pkg_resources|_distutils_hack|distutils-precedence|wheel-")


@pytest.fixture(scope="module")
def base(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with the package and no extra."""
    environment = Environment(tmp_path_factory.mktemp("base"))
    environment.install(str(wheel))
    shutil.copy(OBJECT, environment.folder / "object.yaml")
    return environment


@pytest.fixture(scope="module")
def server(base: Environment, wheel: Path) -> Environment:
    """The same environment, after its user has added the extra."""
    base.install(f"{wheel}[server]")
    return base


def packages(environment: Environment) -> set[str]:
    listed = environment.run("pip", "list", "--format", "json")
    return {each["name"].lower().replace("_", "-") for each in json.loads(listed.stdout)}


def test_environment_without_extras_is_small(base: Environment) -> None:
    names = packages(base)
    (library,) = (base.programs.parent / "lib").glob("python*/site-packages")
    files = (path for path in library.rglob("*") if not OF_PIP.match(path.relative_to(library).parts[0]))
    size = sum(path.stat().st_size for path in files)

    assert names >= BASE
    assert names.isdisjoint(SERVER)
    assert size < LARGEST


def test_package_answers_without_a_checkout(base: Environment) -> None:
    asked = base.run("karta-interpreter", "interpret", "--desired-file", "object.yaml", "-o", "json")

    assert asked.returncode == 0, asked.stderr
    answers = json.loads(asked.stdout)["operations"]
    assert answers["InterpretReplica"]["results"]["replica"] > 0


def test_package_is_a_library_and_a_plugin(base: Environment) -> None:
    lines = base.run("python", "-c", "from karta_interpreter import Karta; print(Karta.__name__)")
    plugin = base.run("kubectl-karta", "catalogue", "list", "-o", "json")

    assert (lines.stdout, lines.stderr) == ("Karta\n", "")
    assert len(json.loads(plugin.stdout)) == len(catalogue_kinds())


def test_command_names_missing_extra(base: Environment) -> None:
    asked = base.run("karta-interpreter", "serve")

    assert (asked.returncode, asked.stdout) == (2, "")
    assert re.fullmatch(r"error: serve requires \w+; install its extra: pip install '[^']+' or '[^']+'\n", asked.stderr)


def test_server_extra_makes_it_a_server(server: Environment) -> None:
    assert packages(server) >= BASE | SERVER
    command = [
        str(server.programs / "karta-interpreter"),
        "serve",
        "--plain-http",
        "--port",
        "0",
    ]
    with subprocess.Popen(
        [*command, "--grace-period", "0"], cwd=server.folder, env=server.variables, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr
            started = next(line for line in process.stderr if '"message":"serving"' in line)
            url = json.loads(started)["url"]
            with urllib.request.urlopen(f"{url}/readyz", timeout=HANG) as answer:  # noqa: S310 - it listens on loopback
                status = answer.status
            process.send_signal(signal.SIGTERM)
            *_, last = process.stderr
        finally:
            process.kill()

    assert (status, json.loads(last)["message"]) == (200, "stopped")


def test_sdist_is_built_with_its_requirements(base: Environment, sdist: Path, wheel: Path) -> None:
    """Without the build tools of this checkout: pip installs those of pyproject.toml."""
    built = base.run("pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", "wheels", str(sdist))

    assert built.returncode == 0, built.stderr
    assert [path.name for path in (base.folder / "wheels").iterdir()] == [wheel.name]
