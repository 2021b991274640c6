"""The programs of a control plane: a run does not wait for those that it does not need."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.proofs.rig.binaries import NEWEST, build_some
from tests.proofs.rig.toolchain import locked


def test_programs_that_exist_are_had_while_others_are_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = NEWEST.folder
    for name in ("crds", "deploy", "etcd"):
        (folder / name).mkdir(parents=True)
    with ThreadPoolExecutor(1) as pool, locked(folder / "lock"):
        had = pool.submit(build_some, ["etcd"], print)
        assert had.result(timeout=10) == folder
