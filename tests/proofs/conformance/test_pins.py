import re
from pathlib import Path

from karta_interpreter.export import argocd_kinds
from tests.proofs.rig.binaries import KARMADA


def test_karmada_has_one_version() -> None:
    for folder in ("conformance/karmada", "benchmarks/go"):
        module = (Path(__file__).parents[1] / folder / "go.mod").read_text()
        assert re.findall(r"github\.com/karmada-io/karmada (\S+)", module) == [KARMADA]


def test_kinds_that_argo_cd_judges_are_those_of_the_version_that_is_asked() -> None:
    module = (Path(__file__).parent / "gitops" / "go.mod").read_text()
    assert f"github.com/argoproj/argo-cd/v3 v{argocd_kinds.VERSION}\n" in module
