import re
from pathlib import Path

from karta_interpreter.export.gitops import ARGO_CD, FLUX
from tests.proofs.rig.binaries import KARMADA


def test_karmada_has_one_version() -> None:
    module = (Path(__file__).parent / "karmada" / "go.mod").read_text()
    assert re.findall(r"github\.com/karmada-io/karmada (\S+)", module) == [KARMADA]


def test_kinds_that_gitops_tools_judge_are_those_of_the_versions_that_are_asked() -> None:
    asked = {folder: (Path(__file__).parent / folder / "go.mod").read_text() for folder in ("gitops", "flux")}

    assert f"github.com/argoproj/argo-cd/v3 v{ARGO_CD.version}\n" in asked["gitops"]
    assert f"github.com/fluxcd/cli-utils v{FLUX.version.removeprefix('with kstatus ')} //" in asked["flux"]
