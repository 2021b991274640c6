"""The Containerfile by what it says, and what `deploy/image.sh` makes of engines; no engine is needed."""

import re
import shutil
import subprocess
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import pytest

from karta_interpreter.cli.serve import command as serve
from tests.deploy.rendered import DEPLOY, ROOT, committed

TEXT = (DEPLOY / "Containerfile").read_text()
INSTRUCTIONS = [
    (word, re.sub(r"\s+", " ", rest).strip())
    for word, rest in re.findall(
        r"^([A-Z]+) ((?:.*\\\n)*.*)$", re.sub(r"^#.*\n", "", TEXT, flags=re.MULTILINE), re.MULTILINE
    )
]
LAST = max(index for index, (word, _) in enumerate(INSTRUCTIONS) if word == "FROM")
FINAL = dict(INSTRUCTIONS[LAST:])
ALLOWED = [
    line.removeprefix("!")
    for line in (DEPLOY / "Containerfile.dockerignore").read_text().splitlines()
    if line[:1] == "!"
]


def test_docker_reads_the_ignore_file_by_its_name() -> None:
    ignored = sorted(file.name for file in DEPLOY.glob("Containerfile.*"))
    assert ignored == ["Containerfile.dockerignore"]
    assert "--ignorefile deploy/Containerfile.dockerignore)" in (DEPLOY / "image.sh").read_text(), "others do not"


def test_copied_files_of_the_image_exist_and_are_not_ignored() -> None:
    sources = [
        source.rstrip("/")
        for word, rest in INSTRUCTIONS
        if word == "COPY" and "--from" not in rest
        for source in rest.split()[:-1]
    ]
    assert sources
    for source in sources:
        assert (ROOT / source).exists()
        assert any(fnmatch(source, name) or source.startswith(f"{name}/") for name in ALLOWED)


def test_sources_of_wheel_are_copied() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    copied = " ".join(rest for word, rest in INSTRUCTIONS if word == "COPY")
    readme = project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["fragments"]
    needed = [*(part["path"] for part in readme), *project["project"]["license-files"], "pyproject.toml"]
    needed += [
        pattern.partition("/")[0] + "/" for pattern in project["tool"]["hatch"]["build"]["targets"]["wheel"]["include"]
    ]
    assert [name for name in needed if name not in copied] == []


def test_everything_that_is_installed_is_locked() -> None:
    installs = [
        part for word, rest in INSTRUCTIONS if word == "RUN" for part in rest.split("&&") if "pip install" in part
    ]
    assert installs
    for install in installs:
        assert "--require-hashes" in install or ("--no-deps" in install and "--no-index" in install)


def test_image_starts_without_shell_as_user_of_deployment() -> None:
    (deployment,) = [one for one in committed("base") if one["kind"] == "Deployment"]
    security = deployment["spec"]["template"]["spec"]["securityContext"]
    assert FINAL["USER"] == f"{security['runAsUser']}:{security['runAsGroup']}"
    assert FINAL["ENTRYPOINT"].startswith("[")
    assert FINAL["CMD"].startswith("[")
    assert "RUN" not in FINAL
    port = next(option for option in serve.params if option.name == "port")
    assert FINAL["EXPOSE"] == str(port.default)


def test_bases_are_plain_names_that_can_be_replaced() -> None:
    bases = [rest.split()[0] for word, rest in INSTRUCTIONS if word == "FROM"]
    defaults = dict(rest.partition("=")[::2] for word, rest in INSTRUCTIONS if word == "ARG")
    assert bases == ["${BUILD_IMAGE}", "${RUN_IMAGE}"]
    assert all("/" not in defaults[base.strip("${}")] for base in bases)
    assert defaults["BUILD_IMAGE"] == defaults["RUN_IMAGE"]
    assert defaults["BASE_NAME"] == f"docker.io/library/{defaults['RUN_IMAGE']}"
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert defaults["VERSION"] == version


_ENGINE = """#!/bin/sh
echo "$0 $*" >> "{log}"
case "$*" in
  info) exit {info} ;;
  *pull*) exit {pull} ;;
  *inspect*) echo "example.test/python@sha256:abc" ;;
esac
"""


@dataclass(frozen=True)
class Engine:
    """An engine that stands in for a real one: the exit codes of two of its commands."""

    info: int = 0
    pull: int = 0


def _build(folder: Path, engines: dict[str, Engine], **environment: str) -> tuple[int, str, list[str]]:
    """Run deploy/image.sh with these engines; return its exit code, stderr, and the last command of an engine."""
    for tool in ("bash", "dirname", "sed", "git", "date", "id"):
        (folder / tool).symlink_to(str(shutil.which(tool)))
    for name, engine in engines.items():
        (folder / name).write_text(_ENGINE.format(log=folder / "log", info=engine.info, pull=engine.pull))
        (folder / name).chmod(0o755)
    variables = {"PATH": str(folder), "HOME": str(folder), **environment}
    command = [str(DEPLOY / "image.sh"), "--squash"]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    log = (folder / "log").read_text().splitlines() if (folder / "log").exists() else [""]
    return done.returncode, done.stderr, log[-1].removeprefix(f"{folder}/").split()


@pytest.mark.parametrize(
    ("engines", "environment", "chosen"),
    [
        pytest.param({"podman": Engine(), "docker": Engine()}, {}, "podman", id="the first of several"),
        pytest.param({"podman": Engine(info=1), "docker": Engine()}, {}, "docker", id="one that does not work"),
        pytest.param({"docker": Engine(info=1), "buildah": Engine()}, {}, "buildah", id="a docker without its daemon"),
        pytest.param({"podman": Engine(), "docker": Engine()}, {"ENGINE": "docker"}, "docker", id="the one asked for"),
    ],
)
def test_working_engine_builds_image(
    tmp_path: Path, engines: dict[str, Engine], environment: dict[str, str], chosen: str
) -> None:
    code, errors, command = _build(tmp_path, engines, **environment, REVISION="abc", IMAGE="example.test/karta:1")
    assert (code, errors) == (0, f"deploy/image.sh: push it: {chosen} push example.test/karta:1\n")
    assert (command[:2], command[-2:]) == ([chosen, "build"], ["--squash", "."])
    arguments = {value.partition("=")[0]: value.partition("=")[2] for value in command if "=" in value}
    declared = {rest.partition("=")[0] for word, rest in INSTRUCTIONS if word == "ARG"}
    assert arguments.keys() == declared
    assert arguments["REVISION"] == "abc"
    assert arguments["BASE_DIGEST"].endswith("sha256:abc")
    assert arguments["BASE_NAME"].startswith("docker.io/library/python:")
    assert ("--ignorefile" in command) is (chosen != "docker")


@pytest.mark.parametrize(
    ("engines", "environment", "message"),
    [
        pytest.param({}, {}, "none of podman, docker and buildah works here", id="no engine"),
        pytest.param({"docker": Engine(info=1)}, {"ENGINE": "docker"}, "docker works here", id="not the one asked for"),
        pytest.param(
            {"podman": Engine(pull=1)}, {"RUN_IMAGE": "example.test/x"}, "cannot get example.test/x", id="base"
        ),
        pytest.param({"podman": Engine(pull=1)}, {}, "Debian's packages need", id="no registry, and no mmdebstrap"),
    ],
)
def test_image_script_names_what_is_missing(
    tmp_path: Path, engines: dict[str, Engine], environment: dict[str, str], message: str
) -> None:
    code, errors, _ = _build(tmp_path, engines, **environment)
    assert code == 1
    assert message in errors.splitlines()[-1]
