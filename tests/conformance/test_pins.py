import re
from pathlib import Path

from tests.e2e.rig.binaries import KARMADA


def test_one_version_of_karmada_is_tested_against() -> None:
    module = (Path(__file__).parent / "karmada" / "go.mod").read_text()
    assert re.findall(r"github\.com/karmada-io/karmada (\S+)", module) == [KARMADA]
