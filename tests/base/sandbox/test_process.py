"""A child process behind a socket; what jq, Lua and large calls do with theirs is tested in their rooms."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from karta_interpreter.base.errors import SandboxError, StopCause
from karta_interpreter.base.sandbox import Process, Program, process as process_module
from karta_interpreter.base.sandbox.child import READY

ECHO = str(Path(__file__).parent / "echo.py")
MEMORY = 512 * 2**20
LONG = 60.0


@pytest.fixture
def process() -> Iterator[Process]:
    process = Process(Program(ECHO, MEMORY, ("a", "b"), packages=False))
    yield process
    process.stop()


def address_space(limits: str) -> int:
    """Return the limit of the address space, which is that of the memory and what takes none."""
    return int(re.findall(r"Max address space +(\d+)", limits)[0])


def ask(process: Process, letter: bytes, payload: bytes = b"", seconds: float = LONG) -> tuple[bytes, bytes]:
    process.send(letter, payload, seconds)
    return process.receive()


def test_requests_and_answers(process: Process) -> None:
    for word in (b"one", b"", b"two"):
        assert ask(process, b"?", word) == (b"R", word)
        assert process.settle()


def test_program_gets_its_arguments(process: Process) -> None:
    assert ask(process, b"a") == (b"R", b"a b")


def test_long_message_is_echoed(process: Process) -> None:
    word = os.urandom(1 << 16) * 50
    assert ask(process, b"?", word) == (b"R", word)
    assert process.settle()


def test_request_may_have_several_messages(process: Process) -> None:
    assert ask(process, b"2", b"first") == (b"1", b"first")
    process.send(b"?", b"second")
    assert process.receive() == (b"2", b"second")
    assert process.settle()


def test_process_has_limits_and_neither_environment_nor_files() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        os.set_inheritable(listener.fileno(), True)
        process = Process(Program(ECHO, MEMORY, niceness=3))
        proc = Path(f"/proc/{process.pid}")
        files = {str(link.readlink()) for link in proc.joinpath("fd").iterdir()}
        limits = proc.joinpath("limits").read_text()
        assert proc.joinpath("environ").read_bytes() == b""
        assert proc.joinpath("cwd").readlink() == Path("/")
        assert os.getpriority(os.PRIO_PROCESS, process.pid) == min(19, os.getpriority(os.PRIO_PROCESS, 0) + 3)
        assert os.getsid(process.pid) == process.pid
        process.stop()
    assert len([file for file in files if file.startswith("socket:")]) == 1
    assert files - {"/dev/null"} == {file for file in files if file.startswith("socket:")}
    assert MEMORY <= address_space(limits) < 2 * MEMORY
    assert "Max file size             0" in limits
    assert "Max core file size        0" in limits


@pytest.mark.parametrize(
    ("container", "bound"),
    [
        pytest.param(3 * 2**30, MEMORY, id="large container"),
        pytest.param(2**30, 2**28, id="small container"),
        pytest.param(sys.maxsize, MEMORY, id="no container"),
    ],
)
def test_memory_of_process_follows_that_of_container(
    monkeypatch: pytest.MonkeyPatch, container: int, bound: int
) -> None:
    monkeypatch.setattr(process_module, "container_memory", lambda: container)
    process = Process(Program(ECHO, MEMORY))
    assert bound <= address_space(Path(f"/proc/{process.pid}/limits").read_text()) < bound + MEMORY
    with pytest.raises(SandboxError, match=f"more than {bound >> 20} MiB"):
        ask(process, b"m")
    process.stop()


NESTED = f"""
import resource
from pathlib import Path
from karta_interpreter.base.sandbox import Process, Program

resource.setrlimit(resource.RLIMIT_AS, ({MEMORY}, {MEMORY}))
process = Process(Program({ECHO!r}, {2 * MEMORY}))
process.send(b"?", b"", {LONG})
print(process.receive(), Path(f"/proc/{{process.pid}}/limits").read_text())
process.stop()
"""


def test_child_of_child_has_the_memory_of_its_parent_at_most() -> None:
    run = subprocess.run([sys.executable, "-c", NESTED], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("(b'R', b'')")
    assert f"Max address space         {MEMORY}" in run.stdout


def test_request_has_its_own_limit_of_processor_time(process: Process) -> None:
    found = []
    for seconds in (5.0, 60.0, 5.0):
        found.append(float(ask(process, b"t", seconds=seconds)[1]))
        assert process.settle()
    assert [5 < found[0] < 7, 60 < found[1] < 62, 5 < found[2] < 7] == [True] * 3


def test_processor_time_of_earlier_requests_does_not_count(process: Process) -> None:
    """RLIMIT_CPU counts it by another clock than `time.process_time`: a script failed after those before it."""
    for _ in range(3):
        assert ask(process, b"c", seconds=LONG) == (READY, b"")
    assert float(ask(process, b"t", seconds=0.1)[1]) > 1.0


def test_processor_time_is_bounded_without_the_other_process(process: Process) -> None:
    process.send(b"e", b"", 0.05)
    process._process.wait(timeout=LONG)  # noqa: SLF001 - nobody looks at its deadline
    with pytest.raises(SandboxError, match="too much processor time"):
        process.receive()


def test_late_answer_stops_process(process: Process) -> None:
    with pytest.raises(SandboxError, match=r"it takes longer than 0\.05 s") as caught:
        ask(process, b"s", seconds=0.05)
    assert caught.value.cause is StopCause.TIME
    assert not process.is_alive


@pytest.mark.parametrize(
    ("letter", "cause", "message"),
    [
        pytest.param(b"d", StopCause.DEFECT, "its process ended with status 3", id="its own end"),
        pytest.param(b"k", StopCause.MEMORY, "it needs more than 512 MiB of memory", id="a library without memory"),
        pytest.param(b"m", StopCause.MEMORY, "it needs more than 512 MiB of memory", id="Python without memory"),
        pytest.param(b"l", StopCause.MEMORY, "it needs more than 512 MiB of memory", id="no memory for a report"),
        pytest.param(b"x", StopCause.DEFECT, "its process failed", id="an exception"),
    ],
)
def test_error_names_cause_of_death(process: Process, letter: bytes, cause: StopCause, message: str) -> None:
    with pytest.raises(SandboxError) as caught:
        ask(process, letter, b"secret")
    assert (str(caught.value), caught.value.cause) == (message, cause)
    assert not process.is_alive


def test_exception_text_is_a_note_for_the_log(process: Process) -> None:
    with pytest.raises(SandboxError) as caught:
        ask(process, b"x", b"secret")
    assert "RuntimeError: secret" in caught.value.__notes__[0]


def test_killed_process_is_reported_as_killed(process: Process) -> None:
    process.send(b"s", b"", LONG)
    process.kill()
    with pytest.raises(SandboxError, match="was killed, perhaps for want of memory") as caught:
        process.receive()
    assert caught.value.cause is StopCause.KILLED


def test_process_is_stopped_after_too_much_processor_time(process: Process) -> None:
    process.send(b"s", b"", LONG)
    os.kill(process.pid, signal.SIGPROF)
    with pytest.raises(SandboxError, match="too much processor time"):
        process.receive()


@pytest.mark.parametrize(
    "letter",
    [
        pytest.param(b"?", id="an answer that nobody has read"),
        pytest.param(b"2", id="half of a request"),
        pytest.param(b"d", id="a process that ends"),
    ],
)
def test_process_out_of_step_is_stopped(process: Process, letter: bytes) -> None:
    process.send(letter, b"", LONG)
    assert not process.settle()
    assert not process.is_alive


def test_request_without_answer_settles(process: Process) -> None:
    process.send(b"n", b"", LONG)
    assert process.settle()


def test_stopping_ends_and_reaps_it(process: Process) -> None:
    process.stop()
    assert not process.is_alive
    assert not Path(f"/proc/{process.pid}").exists()


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(Program("/nowhere.py", MEMORY), id="no file"),
        pytest.param(Program(ECHO, MEMORY, ("fail",)), id="an exception"),
    ],
)
def test_program_that_does_not_start_is_error(program: Program) -> None:
    with pytest.raises(SandboxError, match="its process failed"):
        Process(program)


def test_process_that_cannot_start_is_error(monkeypatch: pytest.MonkeyPatch) -> None:
    handles = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - only their number counts

    def fail(*_: object, **__: object) -> None:
        raise OSError(11, os.strerror(11))

    monkeypatch.setattr(subprocess, "Popen", fail)
    with pytest.raises(SandboxError, match="no process can be started: Resource temporarily unavailable") as caught:
        Process(Program(ECHO, MEMORY))
    assert caught.value.cause is StopCause.NOT_STARTED
    assert len(os.listdir("/proc/self/fd")) == handles  # noqa: PTH208


def test_program_that_starts_too_late_is_no_fault_of_a_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "program.py"
    program.write_text("import time\ntime.sleep(600)\n")
    monkeypatch.setattr(process_module, "_START_SECONDS", 0.001)
    with pytest.raises(SandboxError, match=r"its process takes longer than 0\.001 s to start") as caught:
        Process(Program(str(program), MEMORY))
    assert caught.value.cause is StopCause.NOT_STARTED


@pytest.mark.parametrize("packages", [True, False])
def test_program_finds_packages_only_if_asked(packages: bool, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import importlib.util, os\n"
        "def start():\n"
        "    found = [bool(importlib.util.find_spec(name)) for name in ('karta_interpreter', 'orjson', 'there')]\n"
        "    return lambda channel, letter, payload: channel.send(b'R', repr(found).encode())\n"
    )
    (tmp_path / "there.py").write_text("")
    process = Process(Program(str(program), MEMORY, packages=packages))
    assert ask(process, b"?") == (b"R", repr([packages, packages, False]).encode())
    process.stop()


def test_process_ends_when_its_parent_is_killed() -> None:
    program = f"""
import os, signal
from karta_interpreter.base.sandbox import Process, Program
from karta_interpreter.base.sandbox import process as process_module
print(Process(Program({ECHO!r}, {MEMORY})).pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    stat = Path(f"/proc/{int(done.stdout)}/stat")
    while True:
        try:
            if ") Z " in stat.read_text():
                break
        except OSError:
            break


def test_parser_without_memory_is_no_defect(process: Process) -> None:
    """Orjson raises it as an error of its text (``Not enough memory to allocate buffer for parsing``)."""
    with pytest.raises(SandboxError, match="it needs more than 512 MiB of memory"):
        ask(process, b"p", b"Not enough memory to allocate buffer for parsing")
