"""The files of a release, used as a user does: each function raises SystemExit with what does not hold."""

import hashlib
import json
import re
import tempfile
import venv
import zipfile
from pathlib import Path
from typing import Any

import yaml

from deploy.release import archive
from deploy.release.charts import SERVER
from deploy.release.files import SUMS
from deploy.release.programs import run
from deploy.release.project import CHARTS, Project
from deploy.write_kustomize import KUBERNETES, tool

_OBJECT = "tests/catalogue/manifests/raycluster.yaml"
_PAGE = {f"karta_interpreter/web/console/static/{name}" for name in ("index.html", "main.js", "main.css")}
_PINNED = re.compile(r"^[\w.-]+==[^\\\n]+", re.MULTILINE)


def checksums(target: Path) -> None:
    """Check every file against its sum, as ``sha256sum --check`` does."""
    lines = (target / SUMS).read_text(encoding="utf-8").splitlines()
    for digest, name in (line.split("  ", 1) for line in lines):
        if hashlib.sha256((target / name).read_bytes()).hexdigest() != digest:
            raise SystemExit(f"{name}: its checksum is not that of {SUMS}")


def wheel(target: Path, root: Path, stated: Project) -> None:
    """Install the wheel into an empty environment, outside of the repository, and ask it for an answer."""
    [path] = target.glob("*.whl")
    names = zipfile.ZipFile(path).namelist()
    if tool("npm") and not _PAGE.issubset(names):
        raise SystemExit(f"{path.name}: the page of the console is not in it")
    if "karta_interpreter/catalogue.bin" not in names:
        raise SystemExit(f"{path.name}: the compiled catalogue is not in it")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        venv.create(home / "venv", with_pip=True)
        locked = _PINNED.findall((root / "requirements" / "run.txt").read_text(encoding="utf-8"))
        (home / "constraints.txt").write_text("\n".join(locked), encoding="utf-8")
        pip = (str(home / "venv" / "bin" / "pip"), "--quiet", "--disable-pip-version-check")
        bare = {"PYTHONPATH": ""}
        run(*pip, "install", "--constraint", "constraints.txt", str(path), folder=home, variables=bare)
        program = str(home / "venv" / "bin" / "karta-interpreter")
        shown = run(program, "--version", folder=home, variables=bare).stdout.strip()
        if not shown.endswith(f" {stated.version}"):
            raise SystemExit(f"{path.name}: the program is {shown!r}")
        question = ("interpret", "--desired-file", str(root / _OBJECT), "--operation", "InterpretReplica")
        answer = json.loads(run(program, *question, "--output", "json", folder=home, variables=bare).stdout)
        if not answer["operations"]["InterpretReplica"]["results"]["replica"]:
            raise SystemExit(f"{path.name}: InterpretReplica counts no pods: {answer}")


def charts(target: Path, stated: Project) -> None:
    """Render the packed charts with their defaults: pods run the published image, in this version."""
    for chart in CHARTS:
        path = str(target / f"{chart}-{stated.version}.tgz")
        rendered = run("helm", "template", "karta-interpreter", path, "--kube-version", KUBERNETES).stdout
        wanted = {f"{stated.image}:{stated.version}"} if chart == SERVER else set()
        _same_images(path, rendered, wanted)


def kustomize(target: Path, stated: Project) -> None:
    """Build both bases of the unpacked bundle."""
    name = f"karta-interpreter-kustomize-{stated.version}"
    with tempfile.TemporaryDirectory() as folder:
        for file, data in archive.contents(target / f"{name}.tar.gz").items():
            (Path(folder) / file).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / file).write_bytes(data)
        for base, images in (("base", {f"{stated.image}:{stated.version}"}), ("control-plane/base", set[str]())):
            built = run("kustomize", "build", f"{folder}/{name}/{base}").stdout
            _same_images(f"{name}/{base}", built, images)


def _same_images(source: str, text: str, wanted: set[str]) -> None:
    resources = [resource for resource in yaml.load_all(text, yaml.CSafeLoader) if resource]
    found = set().union(*(_images(resource) for resource in resources))
    if not resources or found != wanted:
        raise SystemExit(f"{source}: {len(resources)} resources run {sorted(found)} instead of {sorted(wanted)}")


def _images(resource: dict[str, Any]) -> set[str]:
    spec = resource.get("spec", {})
    pod = spec["template"]["spec"] if "template" in spec else spec
    return {each["image"] for field in ("initContainers", "containers") for each in pod.get(field, ())}
