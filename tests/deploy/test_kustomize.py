import subprocess
from pathlib import Path

import pytest
import yaml

from deploy.write_kustomize import CONTROL_PLANE, SERVER, identity, render, tool
from tests.deploy import rendered
from tests.deploy.rendered import DEPLOY, Resource
from tests.support.examples import few

CASES = [(rendered.SERVER, folder, values) for folder, values in SERVER.items()]
CASES += [(rendered.CONTROL_PLANE, folder, values) for folder, values in CONTROL_PLANE.items()]


def build(folder: Path) -> list[Resource]:
    kustomize = tool("kustomize")
    assert kustomize
    built = subprocess.run([kustomize, "build", folder], check=True, stdout=subprocess.PIPE, text=True)
    return sorted(yaml.load_all(built.stdout, yaml.CSafeLoader), key=identity)


@rendered.needs_helm
@rendered.needs_kustomize
@pytest.mark.sweep
@pytest.mark.parametrize(
    ("chart", "folder", "values"), [pytest.param(*case, id=case[1]) for case in few(CASES, "builds")]
)
def test_kustomize_builds_what_the_chart_installs(chart: str, folder: str, values: str, tmp_path: Path) -> None:
    base = "base" if chart == rendered.SERVER else "control-plane/base"
    (tmp_path / "deploy").symlink_to(DEPLOY)
    overlay = {"resources": [f"deploy/kustomize/{base}"]}
    if folder != base:
        overlay["components"] = [f"deploy/kustomize/{folder}"]
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(overlay))
    assert build(tmp_path) == sorted(render(chart, values), key=identity)


@rendered.needs_kustomize
def test_components_of_bundle_go_together(tmp_path: Path) -> None:
    (tmp_path / "deploy").symlink_to(DEPLOY)
    # The certificates of cert-manager are existing ones.
    folders = SERVER.keys() - {"components/existing-certificate"}
    components = [f"deploy/kustomize/{folder}" for folder in folders - {"base"}]
    overlay = {"resources": ["deploy/kustomize/base"], "components": components}
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(overlay))
    wanted = {identity(resource) for folder in folders for resource in rendered.committed(folder)}
    wanted -= {("Role", "karta-interpreter"), ("RoleBinding", "karta-interpreter")}
    assert [identity(resource) for resource in build(tmp_path)] == sorted(wanted)


def test_kustomize_folders_are_checked() -> None:
    files = DEPLOY.glob("kustomize/**/kustomization.yaml")
    folders = {str(file.parent.relative_to(DEPLOY / "kustomize")) for file in files}
    assert folders == SERVER.keys() | CONTROL_PLANE.keys()
