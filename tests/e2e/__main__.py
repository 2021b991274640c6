"""``python -m tests.e2e``: run the end-to-end tests; arguments go to pytest, such as ``-k RayCluster``.

Without arguments they run with the newest Karmada, and then a few of them with the oldest. ``KARMADA=v1.18.1`` chooses
one version.
"""

import os
import sys
from pathlib import Path

import pytest

from tests.e2e.rig.binaries import OLDEST

_CORE = "core"
_OF_CORE = (
    "(test_divided or test_components_are_scheduled_together) and (RayCluster or JobSet)"
    " or test_an_invalid_karta_is_refused or test_a_deleted_karta"
    " or test_doctor_finds_nothing_wrong or test_export_prints or test_unregister"
)


def _run(*arguments: str) -> int:
    os.environ.setdefault("RUN_E2E", "all")
    # Everything is on loopback.
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "*"
    options = ["-p", "no:cacheprovider", "--capture=no", "--tb=short"]
    return pytest.main([*options, *arguments, str(Path(__file__).parent)])


if os.environ.get("RUN_E2E") == _CORE:
    sys.exit(_run("-k", _OF_CORE))
failed = _run(*sys.argv[1:])
if failed or sys.argv[1:] or os.environ.get("KARMADA"):
    sys.exit(failed)
sys.stdout.write(f"\nThe core of the tests, with Karmada {OLDEST.karmada} and Kubernetes {OLDEST.kubernetes}\n")
sys.stdout.flush()
# The same process, so that whatever stops the one run stops the other.
os.environ.update(RUN_E2E=_CORE, KARMADA=OLDEST.karmada)
os.execv(sys.executable, [sys.executable, "-m", "tests.e2e"])  # noqa: S606 - this very program
