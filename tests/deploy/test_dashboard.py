"""The dashboard against Grafana's own types: fields that Grafana does not know, lacks or types otherwise."""

import copy
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deploy.write_kustomize import TOOLS
from tests.deploy.rendered import DEPLOY

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


def complaints(dashboard: dict[str, Any], folder: Path) -> list[str]:
    """Compile the dashboard as a value of Grafana's types, and the options of its panels as those of their kinds."""
    assert TYPES
    (folder / "node_modules").symlink_to(TYPES / "node_modules")
    lines = [
        HEAD,
        *(f'import type * as {kind} from "{RAW}/{kind}/panelcfg/x/{file}";' for kind, file in PANELS.items()),
    ]
    lines.append(f"export const dashboard: Json<Dashboard> = {json.dumps(dashboard)};")
    for number, panel in enumerate(dashboard["panels"]):
        options = json.dumps(panel.get("options", {}))
        lines.append(f"export const panel{number}: Json<Partial<{panel['type']}.Options>> = {options};")
    (folder / "dashboard.ts").write_text("\n".join(lines))
    compiler = TYPES / "node_modules" / ".bin" / "tsc"
    done = subprocess.run([compiler, *OPTIONS, "dashboard.ts"], cwd=folder, capture_output=True, check=False)
    return done.stdout.decode().splitlines()


def test_grafana_knows_every_field_of_the_dashboard(tmp_path: Path) -> None:
    assert complaints(DASHBOARD, tmp_path) == []


def legend(dashboard: dict[str, Any]) -> dict[str, Any]:
    panel = next(panel for panel in dashboard["panels"] if panel["type"] == "timeseries")
    found: dict[str, Any] = panel["options"]["legend"]
    return found


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        pytest.param(lambda d: d.update(refresh=30), "not assignable to type 'string'", id="a number for a text"),
        pytest.param(lambda d: d["panels"][0].update(gridpos={}), "'\"gridpos\"' does not exist", id="a typo"),
        pytest.param(lambda d: legend(d).update(placement="left"), "'\"left\"' is not assignable", id="no such choice"),
        pytest.param(lambda d: legend(d).pop("showLegend"), "'showLegend' is missing", id="a field that is needed"),
    ],
)
def test_the_check_finds(change: Callable[[dict[str, Any]], object], complaint: str, tmp_path: Path) -> None:
    dashboard = copy.deepcopy(DASHBOARD)
    change(dashboard)
    found = complaints(dashboard, tmp_path)
    assert any(complaint in line for line in found), found
