"""How many examples a law is tried on; other numbers of objects and rounds follow it. `EXAMPLES=200 make test` takes more."""

import os

EXAMPLES = int(os.environ.get("EXAMPLES", "50"))
