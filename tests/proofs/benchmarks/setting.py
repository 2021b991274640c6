"""On what, and with what, was measured."""

import os
import platform
import sysconfig
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from tests.proofs.benchmarks.golang import Programs
from tests.proofs.benchmarks.rounds import Effort

_PACKAGES = ("aiohttp", "uvloop", "orjson", "msgspec", "lupa")


def setting(effort: Effort, programs: Programs, busy: float) -> str:
    """Return a paragraph that names machine, versions and effort; ``busy`` is the load average before."""
    packages = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    machine = f"{processor()} ({os.cpu_count()} cores, of which two are used), {platform.system()}"
    return (
        f"Measured by `make bench` on {datetime.now(UTC):%d %B %Y} on {machine}. "
        f"This server: CPython {platform.python_version()} ({_build()}), {packages}. "
        f"Next to it: Karmada {programs.karmada}, built by {programs.go}. Each figure is the {effort}, and of as many "
        "more the second time, where it says warm. One operation has a quarter of the calls. "
        f"The load average before was {busy:.1f}.\n"
    )


def _build() -> str:
    """Tell how CPython was compiled, which makes a fifth of its speed."""
    optimised = "--enable-optimizations" in (sysconfig.get_config_var("CONFIG_ARGS") or "")
    return f"built {'with' if optimised else 'without'} profile-guided optimisation"


def processor() -> str:
    """Return the name of the processor."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
