"""``python -m tests.proofs.fleet``: live through a day of a fleet, and compare its recording with the stored one."""

import argparse
import os
import shutil
import signal
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.proofs.fleet.day import Day
from tests.proofs.fleet.named import misnamed
from tests.proofs.fleet.recording import DAY, Summary, differences, pack, read
from tests.proofs.fleet.verified import differing
from tests.proofs.fleet.workloads import KINDS
from tests.proofs.fleet.world import running
from tests.proofs.reality.controllers import CONTROLLERS
from tests.proofs.rig.toolchain import BuildError

_CONTROLLERS = ("built-in", "jobset", "kuberay", "lws", "mpi-operator", "kruise", "kueue")


def main() -> int:
    options = _options()
    if not shutil.which("go"):
        _say("make fleet is skipped: it needs Go to build Karmada and workload controllers")
        return 0
    # Everything is on loopback.
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "*"
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    names = options.controllers.split(",")
    served = {(kind.api_version, kind.name) for one in CONTROLLERS if one.name in names for kind in one.kinds}
    kinds = [kind for kind in KINDS if (kind.api_version, kind.name) in served]
    with TemporaryDirectory(prefix="fleet-") as folder:
        try:
            with running(Path(folder), options.members, names, _say) as world:
                day = Day(world, options.minutes * 60, _say, kinds)
                day.live(options.objects)
                found = differing(world.members, _say)
                for name in [*world.servers]:
                    for fight in world.servers[name].fights():
                        _say(f"{name}: {fight['object']} {fight['field']} by {fight['manager']} in {fight['cluster']}")
                    world.stop(name)
        except BuildError as error:
            _say(str(error))
            return 1
        made = options.write or Path(folder) / DAY.name
        pack(sorted((Path(folder) / "recordings").iterdir()), made)
        summary = Summary.of(read(made))
        found += misnamed(read(made))
        size = made.stat().st_size
    for line in summary.lines():
        _say(line)
    _say(f"{size} bytes")
    if not options.write:
        found += differences(Summary.of(read()), summary)
    for line in found:
        _say(f"DIFFERS {line}")
    return 1 if found else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.fleet", description="A day of a fleet, recorded.")
    parser.add_argument("--objects", type=int, default=200)
    parser.add_argument("--members", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--controllers", default=",".join(_CONTROLLERS), help="those of the members")
    parser.add_argument(
        "--write", type=Path, metavar="FILE", help="write the recording there, and do not compare the calls"
    )
    return parser.parse_args()


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
