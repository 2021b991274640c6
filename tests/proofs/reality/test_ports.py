"""Ports that controllers listen on whatever their flags are."""

import dataclasses
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.proofs.reality.controllers import controller_of
from tests.proofs.reality.run import RunError, ports_taken
from tests.proofs.rig.processes import free_port

_BUILTIN = controller_of("built-in")


def test_port_in_use_ends_the_run_with_a_message(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        controller = dataclasses.replace(_BUILTIN, ports=(port,))
        with (
            pytest.raises(RunError, match=f"port {port} is in use, and built-in listens on no other"),
            ports_taken([controller], tmp_path / "lock"),
        ):
            pass


def test_free_port_is_locked_during_the_run(tmp_path: Path) -> None:
    controller = dataclasses.replace(_BUILTIN, ports=(free_port(),))
    with ports_taken([controller], tmp_path / "lock"):
        assert (tmp_path / "lock").exists()


def test_free_port_is_returned_to_one_caller_only() -> None:
    program = "from tests.proofs.rig.processes import free_port; print(free_port(), free_port())"
    mine = {free_port() for _ in range(3)}
    beside = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert len(mine) == 3
    assert mine.isdisjoint(map(int, beside)), "another run claims others while this one lives"
