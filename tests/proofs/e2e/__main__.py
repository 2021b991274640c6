"""``python -m tests.proofs.e2e``: run the end-to-end tests; arguments go to pytest, such as ``-k RayCluster``.

Without arguments they run with the newest Karmada, and then a few of them with the oldest. ``KARMADA=v1.18.1`` chooses
one version. ``KARMADA_SOURCE=PATH`` is a folder or an archive of Karmada's source, which a few of them run with next to
these; with arguments it is the only one. The server is that of the image where one can be built, else that of this
checkout; ``--from-checkout`` chooses this checkout.
"""

import os
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.proofs.image.building import ROOT, BuildError, built, missing
from tests.proofs.rig.binaries import OLDEST
from tests.proofs.rig.unpacked import write_program

_CORE = "core"
_OF_CORE = (
    "(test_divided or test_components_are_scheduled_together) and (RayCluster or JobSet)"
    " or test_invalid_karta_is_refused or test_deleted_karta"
    " or test_doctor_finds_nothing_wrong or test_export_prints or test_unregister"
)
_OF_SOURCE = f"{_OF_CORE} or test_components"
_FROM_CHECKOUT = "--from-checkout"
_SOURCE = "KARMADA_SOURCE"


def _run(*arguments: str) -> int:
    os.environ.setdefault("RUN_E2E", "all")
    # Everything is on loopback.
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "*"
    options = ["-p", "no:cacheprovider", "--capture=no", "--tb=short", "--durations=20"]
    return pytest.main([*options, *arguments, str(Path(__file__).parent)])


def _run_from_image(*arguments: str) -> int:
    if reason := missing():
        _say(f"The server is that of this checkout: that of the image {reason}")
        return _run(*arguments)
    _say("The server is that of the image, which is built first")
    with ExitStack() as stack:
        program = Path(stack.enter_context(TemporaryDirectory()), "karta-interpreter")
        try:
            image = stack.enter_context(built(ROOT))
        except BuildError as error:
            sys.exit(str(error))
        write_program(program, image)
        os.environ["E2E_PROGRAM"] = str(program)
        os.environ.pop("PYTHONPATH", None)  # only what a test sets is for the program
        failed = _run(*arguments)
    del os.environ["E2E_PROGRAM"]
    return failed


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


wanted = [argument for argument in sys.argv[1:] if argument != _FROM_CHECKOUT]
run = _run if _FROM_CHECKOUT in sys.argv else _run_from_image
if os.environ.get("RUN_E2E") == _CORE:
    failed = run("-k", _OF_SOURCE if _SOURCE in os.environ else _OF_CORE)
    if failed or not os.environ.pop(_SOURCE, ""):
        sys.exit(failed)
else:
    source = "" if wanted else os.environ.pop(_SOURCE, "")
    failed = run(*wanted)
    if failed or wanted or os.environ.get("KARMADA"):
        sys.exit(failed)
    os.environ.update({_SOURCE: source} if source else {})
    os.environ["RUN_E2E"] = _CORE
if _SOURCE in os.environ:
    _say(f"\nThe core of the tests, with the Karmada of {os.environ[_SOURCE]}")
else:
    _say(f"\nThe core of the tests, with Karmada {OLDEST.karmada} and Kubernetes {OLDEST.kubernetes}")
    os.environ["KARMADA"] = OLDEST.karmada
# The same process, so that whatever stops the one run stops the other.
os.execv(sys.executable, [sys.executable, "-m", "tests.proofs.e2e", _FROM_CHECKOUT])  # noqa: S606 - this very program
