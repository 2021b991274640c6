"""The server in the image, restricted as in the chart's Deployment."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from karta_interpreter.engine.operations import Operation
from tests.proofs.image.building import Image
from tests.proofs.image.calls import Caller, cases, pairs
from tests.proofs.image.container import Container, Restrictions, running
from tests.proofs.rig.processes import free_port
from tests.support.bodies import body_about, bounded
from tests.support.waiting import HANG

_LACKING = ("the answer lacks", "an object sets resources that its definition does not read")
_SIGKILL = 128 + 9
# Options of the chart that need no control plane and do not depend on the speed of this machine
_KEPT = ("--log-level=", "--connection-age=", "--grace-period=")


class Served:
    """A server that is ready."""

    def __init__(self, container: Container, port: int) -> None:
        self.container = container
        self.caller = Caller(port)


@pytest.fixture(scope="module")
def served(image: Image, restrictions: Restrictions, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    port = free_port()
    options = [
        "--host=127.0.0.1",
        f"--port={port}",
        *(option for option in restrictions.arguments if option.startswith(_KEPT)),
        "--kartas=/etc/karta-interpreter/kartas",
        "--overrides=/etc/karta-interpreter/overrides",
    ]
    command = [*image.config["Entrypoint"], image.config["Cmd"][0], *options]
    with running(tmp_path_factory.mktemp("image") / "run", image, restrictions, *command) as container:
        served = Served(container, port)
        _wait_until_ready(served)
        yield served
        served.caller.close()


def _wait_until_ready(served: Served) -> None:
    deadline = time.monotonic() + HANG
    while time.monotonic() < deadline:
        assert served.container.child.poll() is None, served.container.log
        try:
            if served.caller.get("/readyz")[0] == 200:
                return
        except OSError:
            served.caller.close()
            time.sleep(0.05)
    raise AssertionError(served.container.log)


def test_process_has_no_rights(served: Served, restrictions: Restrictions) -> None:
    pid = served.container.pid
    status = dict(
        line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line
    )
    assert {int(number) for number in status["Uid"].split()} == {restrictions.uid}
    assert {int(number) for number in status["Gid"].split()} == {restrictions.gid}
    assert {int(status[f"Cap{kind}"], 16) for kind in ("Inh", "Prm", "Eff", "Bnd", "Amb")} == {0}
    assert status["NoNewPrivs"] == "1"
    mounts = [line.split() for line in Path(f"/proc/{pid}/mounts").read_text().splitlines()]
    writable = {mount[1] for mount in mounts if "rw" in mount[3].split(",")}
    assert "/" not in writable
    assert writable <= {"/proc", "/dev", "/tmp"}  # noqa: S108 - a path of the container


def test_image_answers_operations_as_checkout_does(served: Served) -> None:
    several = cases()
    assert {case.call.operation for case in several} == set(Operation)
    for case, body, wanted in pairs(several):
        assert json.loads(served.caller.post(body)) == json.loads(wanted), f"{case.source}:{case.line}"


def test_bounded_expression_has_its_process(served: Served) -> None:
    answer = json.loads(served.caller.post(body_about("InterpretReplica", bounded(1))))["response"]
    assert (answer["successful"], answer["replicas"]) == (True, 3)


def test_script_has_its_process(served: Served) -> None:
    sundial = {"apiVersion": "mill.example.org/v1", "kind": "Sundial", "metadata": {"name": "s", "namespace": "n"}}
    for stones, healthy in ((3, True), (2, False)):
        body = body_about("InterpretHealth", sundial | {"spec": {"stones": stones}})
        answer = json.loads(served.caller.post(body))["response"]
        assert (answer["successful"], answer["healthy"]) == (True, healthy)


def test_server_of_the_image_ends_in_order_before_it_is_killed(served: Served, restrictions: Restrictions) -> None:
    served.container.signal("TERM")
    # A kubelet kills it after that time.
    assert served.container.wait(restrictions.seconds_to_end) == 0
    lines = [json.loads(line) for line in served.container.log.splitlines()]
    others = [line for line in lines if line["level"] not in {"info", "debug"}]
    # Calls that the checkout refuses as well, and what answers lack: once a second the server looks at the latest call.
    assert [line for line in others if "operation" not in line and not line["message"].startswith(_LACKING)] == []


def test_more_memory_than_the_limit_ends_it(image: Image, restrictions: Restrictions, tmp_path: Path) -> None:
    takes = "python3", "-c", "bytearray(128 << 20)"
    with running(tmp_path / "run", image, restrictions, *takes, memory=64 << 20) as container:
        assert container.wait() == _SIGKILL
