"""``python -m tests.proofs.packages``: the package in new environments, and what it is built from.

Arguments go to pytest.
"""

import os
import sys
from pathlib import Path

import pytest

os.environ["RUN_PACKAGES"] = "1"
sys.exit(pytest.main(["-p", "no:cacheprovider", "--tb=short", *sys.argv[1:], str(Path(__file__).parent)]))
