"""The locked requirements: what pip before 23.3 needs, which Python 3.11 comes with."""

import re
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement

LOCKS = sorted((Path(__file__).parents[2] / "requirements").glob("*.txt"))
INSTALLED = ("run", "build", "dev")


def locked() -> dict[str, set[str]]:
    """Return the extras of each package that the tests run with, as its lock names them."""
    found = dict[str, set[str]]()
    for lock in LOCKS:
        if lock.stem in INSTALLED:
            pins = (
                Requirement(line.rstrip(" \\")) for line in re.findall(r"^\w.*==.*$", lock.read_text(), re.MULTILINE)
            )
            found |= {pin.name: pin.extras for pin in pins if pin.marker is None or pin.marker.evaluate()}
    return found


def test_package_that_is_required_with_extra_is_locked_with_it() -> None:
    """Or pip looks for the newest version with that extra, and rejects any that is not the locked one."""
    pins, missing = locked(), []
    for name, extras in pins.items():
        for line in distribution(name).requires or ():
            wanted = Requirement(line)
            applies = not wanted.marker or any(wanted.marker.evaluate({"extra": extra}) for extra in (extras or {""}))
            if applies and wanted.extras - pins.get(wanted.name, wanted.extras):
                missing.append(f"{name} requires {wanted}")
    assert not missing
