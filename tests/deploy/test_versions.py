"""The versions that docs/upgrade.md supports are those of the tests and of the charts."""

import re
import tomllib
from dataclasses import replace

import pytest
import yaml

from tests.deploy.rendered import CHARTS, DEPLOY, ROOT
from tests.proofs.rig.binaries import NEWEST, OLDEST, Versions, chosen
from tests.support.rows import rows

PAGE = (ROOT / "docs" / "upgrade.md").read_text()
ROWS = {
    name.partition(",")[0]: (oldest, newest, tested.split(", "))
    for name, oldest, newest, tested in re.findall(
        r"^\| (\w[^|]*) \| (\d[^|]*) \| (\d[^|]*) \| (\S[^|]*) \|$", PAGE, re.MULTILINE
    )
}


def minor(version: str) -> tuple[int, ...]:
    """The major and the minor version."""
    return tuple(int(part) for part in version.removeprefix("v").split(".")[:2])


@rows(
    ("name", "tested"),
    [
        pytest.param("Karmada", [OLDEST.karmada, NEWEST.karmada], id="Karmada"),
        pytest.param("Kubernetes", [OLDEST.kubernetes, NEWEST.kubernetes], id="Kubernetes"),
        pytest.param("Helm", re.findall(r"^HELM=(\S+)", (DEPLOY / "tools.sh").read_text(), re.MULTILINE), id="Helm"),
        pytest.param(
            "Python",
            yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())["jobs"]["run"]["strategy"][
                "matrix"
            ]["python"],
            id="Python",
        ),
    ],
)
def test_page_has_tested_versions(name: str, tested: list[str]) -> None:
    oldest, newest, listed = ROWS[name]
    assert listed == tested
    assert minor(oldest) <= minor(tested[0]) <= minor(tested[-1]) <= minor(newest)


def test_oldest_versions_are_tested() -> None:
    # Helm is the exception: what is needed of it came with 3.14.
    tested = {name: listed[0] for name, (_, _, listed) in ROWS.items() if name != "Helm"}
    assert {name: minor(ROWS[name][0]) for name in tested} == {name: minor(version) for name, version in tested.items()}


@pytest.mark.parametrize("chart", CHARTS)
def test_charts_refuse_an_older_kubernetes_and_no_newer_one(chart: str) -> None:
    described = yaml.safe_load((DEPLOY / "helm" / chart / "Chart.yaml").read_text())
    assert described["kubeVersion"] == f">={ROWS['Kubernetes'][0]}.0-0"


def test_package_refuses_older_python() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == f">={ROWS['Python'][0]}"


def test_tools_have_the_types_of_the_newest_kubernetes() -> None:
    assert f"KUBERNETES={NEWEST.kubernetes}\n" in (DEPLOY / "tools.sh").read_text()


@pytest.mark.parametrize(
    ("variable", "versions"),
    [
        pytest.param("", NEWEST, id="by default the newest"),
        pytest.param(OLDEST.karmada, OLDEST, id="the oldest, on its own Kubernetes"),
        pytest.param("v1.18.1", replace(NEWEST, karmada="v1.18.1"), id="another one, on the newest Kubernetes"),
    ],
)
def test_e2e_takes_the_karmada_that_is_asked_for(
    variable: str, versions: Versions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KARMADA", variable)
    assert chosen() == versions
    assert variable in str(versions.folder)
