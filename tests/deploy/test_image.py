"""The Containerfile by what it says; no engine is needed."""

import re
import tomllib
from fnmatch import fnmatch

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
    assert "--ignorefile deploy/Containerfile.dockerignore " in TEXT


def test_what_is_copied_is_there_and_not_ignored() -> None:
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


def test_what_the_wheel_is_built_from_is_copied() -> None:
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


def test_the_image_starts_without_a_shell_as_the_user_of_the_deployment() -> None:
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
    defaults = dict(rest.split("=") for word, rest in INSTRUCTIONS if word == "ARG")
    assert bases == ["${BUILD_IMAGE}", "${RUN_IMAGE}"]
    assert all("/" not in defaults[base.strip("${}")] for base in bases)
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert defaults["VERSION"] == version
