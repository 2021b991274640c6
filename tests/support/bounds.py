"""Runs a server whose bounds are others than those that suit every server.

`python -m tests.support.bounds JSON -m karta_interpreter serve OPTION...` serves with the options and with the settings
of the JSON.
"""

import json
import sys

from karta_interpreter.cli import main, serve
from karta_interpreter.webhook.settings import Settings


def run() -> None:
    """Serve with other settings."""
    bounds = json.loads(sys.argv[1])
    del sys.argv[1:4]
    vars(serve)["Settings"] = lambda **settings: Settings(**settings | bounds)
    main()


if __name__ == "__main__":
    run()
