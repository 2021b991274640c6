"""What ``tree`` prints of a member, for an account."""

import json
from collections.abc import Iterator
from pathlib import Path

from tests.proofs.e2e.recorded_member import RecordedMember
from tests.proofs.rig.api import Object
from tests.proofs.rig.interpreter import run
from tests.proofs.rig.kubeconfig import write_kubeconfig


def kubeconfig(member: RecordedMember, name: str, token: str) -> Path:
    """Write the kubeconfig of an account."""
    file = member.layout.folder / f"{name}.config"
    return write_kubeconfig(file, member.api.port, member.layout.authority, {"token": token})


def shown(config: Path, *arguments: str) -> Object:
    """Return what ``tree -o json`` prints without a problem."""
    done = run("tree", *arguments, "--kubeconfig", config, "-o", "json")
    assert (done.returncode, done.stderr) == (0, ""), f"{arguments}: {done.stderr}"
    document: Object = json.loads(done.stdout)
    return document


def pods_in(node: Object) -> Iterator[Object]:
    """Yield the pods of a component and of its children."""
    for instance in node["instances"]:
        yield from instance.get("pods", ())
    for child in node.get("children", ()):
        yield from pods_in(child)
