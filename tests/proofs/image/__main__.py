"""``python -m tests.proofs.image``: build the image and test it; arguments go to pytest."""

import os
import sys
from pathlib import Path

import pytest

os.environ["RUN_IMAGE_TEST"] = "1"
# Everything is on loopback.
os.environ["NO_PROXY"] = os.environ["no_proxy"] = "*"
sys.exit(pytest.main(["-p", "no:cacheprovider", "-rs", *sys.argv[1:], str(Path(__file__).parent)]))
