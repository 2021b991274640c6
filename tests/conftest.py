"""How all tests run: nothing about them depends on how fast the machine is."""

import gc
import os

from hypothesis import HealthCheck, settings

# A busy machine takes long for some example; a profile of Hypothesis' own, as for CI, stays what it is otherwise.
settings.register_profile("suite", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")


def pytest_xdist_auto_num_workers() -> int:
    """One process more than there are processors: some tests wait for a moment to pass, or for another process."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_finish() -> None:
    """Leave thousands of tests alone when garbage is looked for; it took a tenth of the time."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
