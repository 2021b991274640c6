"""How many examples a law is tried on: `EXAMPLES=200 make test` takes so many, and other numbers go by it."""

import os

EXAMPLES = int(os.environ.get("EXAMPLES", "15"))
CHANGES = int(os.environ.get("CHANGES", str(EXAMPLES * 6)))
"""How many changes of objects a law is tried on for each kind, where a change costs less than an example."""
