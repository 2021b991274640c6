"""``python -m tests.e2e``: run the end-to-end tests; arguments go to pytest, such as ``-k RayCluster``."""

import os
import sys
from pathlib import Path

import pytest

os.environ["RUN_E2E"] = "1"
# Everything is on loopback.
os.environ["NO_PROXY"] = os.environ["no_proxy"] = "*"
options = ["-p", "no:cacheprovider", "--capture=no", "--tb=short"]
sys.exit(pytest.main([*options, *sys.argv[1:], str(Path(__file__).parent)]))
