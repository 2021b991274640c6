"""How many examples a law is tried on: `EXAMPLES=200 make test` takes so many, and other numbers go by it."""

import os

EXAMPLES = int(os.environ.get("EXAMPLES", "15"))
