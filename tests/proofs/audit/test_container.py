from pathlib import Path

import pytest

from tests.proofs.audit.container import Container

VERSION_2 = "low 0\nhigh 0\nmax 7\noom 1\noom_kill 3\noom_group_kill 0\n"
VERSION_1 = "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"


@pytest.mark.parametrize(
    ("name", "text", "kills"),
    [
        pytest.param("memory.events", VERSION_2, 3, id="version 2"),
        pytest.param("memory.oom_control", VERSION_1, 2, id="version 1"),
        pytest.param("memory.current", "1", 0, id="a kernel that does not count"),
    ],
)
def test_kills_of_the_kernel_are_counted(tmp_path: Path, name: str, text: str, kills: int) -> None:
    (tmp_path / name).write_text(text)
    assert Container(tmp_path, tmp_path).kills() == kills
