"""Cases that need a release of Kubernetes."""

import pytest

from tests.proofs.reality.case import Case, numbers
from tests.proofs.reality.controllers import controller_of
from tests.support.rows import rows

_BUILTIN = controller_of("built-in")


@rows(
    ("since", "release", "runs"),
    [
        pytest.param(None, "v1.30.14", True, id="of all releases"),
        pytest.param("v1.37", "v1.35.3", False, id="older"),
        pytest.param("v1.37", "v1.37.0", True, id="the first"),
        pytest.param("v1.37", "v1.100.1", True, id="newer"),
    ],
)
def test_case_runs_on_its_release_and_newer_ones(since: str | None, release: str, runs: bool) -> None:
    entry = {"name": "a", "steps": [], "object": {"apiVersion": "v1", "kind": "Pod"}, "controller": _BUILTIN}
    case = Case.model_validate(entry | ({"since": since} if since else {}))
    assert (case.since <= numbers(release)) is runs
