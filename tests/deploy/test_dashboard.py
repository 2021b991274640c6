"""The dashboard against Grafana's own types: fields that Grafana does not know, lacks or types otherwise."""

import copy
import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from deploy.write_kustomize import TOOLS
from tests.deploy.rendered import DEPLOY
from tests.support.rows import rows

DASHBOARD = json.loads((DEPLOY / "helm" / "karta-interpreter" / "files" / "dashboard.json").read_text())
TYPES = max(TOOLS.glob("grafana-*"), default=None)
PANELS = {"stat": "StatPanelCfg_types.gen", "timeseries": "TimeSeriesPanelCfg_types.gen"}
RAW = "@grafana/schema/dist/esm/raw/composable"
# A value of an enumeration is written as itself in JSON.
HEAD = """import type {Dashboard} from "@grafana/schema";
type Json<T> = T extends string ? `${T}` : T extends (infer U)[] ? Json<U>[]
  : T extends object ? {[K in keyof T]: Json<T[K]>} : T;
"""
OPTIONS = [
    "--noEmit",
    "--strict",
    "--skipLibCheck",
    "--module",
    "nodenext",
    "--moduleResolution",
    "nodenext",
    "--target",
    "es2022",
]

pytestmark = pytest.mark.skipif(not TYPES, reason="Grafana's types are missing: run `make tools` where there is npm")


def legend(dashboard: dict[str, Any]) -> dict[str, Any]:
    panel = next(panel for panel in dashboard["panels"] if panel["type"] == "timeseries")
    found: dict[str, Any] = panel["options"]["legend"]
    return found


MISTAKES: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "a number for a text": (lambda d: d.update(refresh=30), "not assignable to type 'string'"),
    "a typo": (lambda d: d["panels"][0].update(gridpos={}), "'\"gridpos\"' does not exist"),
    "no such choice": (lambda d: legend(d).update(placement="left"), "'\"left\"' is not assignable"),
    "a field that is needed": (lambda d: legend(d).pop("showLegend"), "'showLegend' is missing"),
}
"""What changes the dashboard, and what the compiler reports about it."""


def source(dashboard: dict[str, Any]) -> str:
    """The dashboard as a value of Grafana's types, and the options of its panels as those of their kinds."""
    lines = [
        HEAD,
        *(f'import type * as {kind} from "{RAW}/{kind}/panelcfg/x/{file}";' for kind, file in PANELS.items()),
        f"export const dashboard: Json<Dashboard> = {json.dumps(dashboard)};",
    ]
    for number, panel in enumerate(dashboard["panels"]):
        options = json.dumps(panel.get("options", {}))
        lines.append(f"export const panel{number}: Json<Partial<{panel['type']}.Options>> = {options};")
    return "\n".join(lines)


@pytest.fixture(scope="module")
def complaints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the compiler reports about each dashboard; one run reads Grafana's types for all of them."""
    assert TYPES
    folder = tmp_path_factory.mktemp("dashboards")
    (folder / "node_modules").symlink_to(TYPES / "node_modules")
    dashboards = {"ours": copy.deepcopy(DASHBOARD)}
    for name, (change, _) in MISTAKES.items():
        dashboards[name] = copy.deepcopy(DASHBOARD)
        change(dashboards[name])
    files = {f"{name.replace(' ', '-')}.ts": name for name in dashboards}
    for file, name in files.items():
        (folder / file).write_text(source(dashboards[name]))
    compiler = TYPES / "node_modules" / ".bin" / "tsc"
    done = subprocess.run([compiler, *OPTIONS, *files], cwd=folder, capture_output=True, text=True, check=False)
    found, name = dict.fromkeys(dashboards, ""), "ours"
    for line in done.stdout.splitlines():
        name = files.get(line.partition("(")[0], name)  # a complaint may have several lines
        found[name] += f"{line}\n"
    return found


def test_grafana_knows_every_field_of_the_dashboard(complaints: dict[str, str]) -> None:
    assert complaints["ours"] == ""


@rows("mistake", MISTAKES)
def test_dashboard_check_finds_mistake(complaints: dict[str, str], mistake: str) -> None:
    assert MISTAKES[mistake][1] in complaints[mistake]
