"""Runs a server, or a workload types API, whose bounds are others than those that suit everybody.

`python -m tests.support.bounds JSON -m karta_interpreter serve OPTION...` serves with the options and with the settings
of the JSON. So does `types-api` for `serve`.
"""

import json
import sys

from karta_interpreter.base.sandbox import process
from karta_interpreter.cli import main, serve, types_api
from karta_interpreter.web.types_api.settings import TypesSettings
from karta_interpreter.webhook.settings import Settings
from tests.support.waiting import HANG


def run() -> None:
    """Serve with other settings."""
    vars(process).update(_START_SECONDS=HANG)
    bounds = json.loads(sys.argv[1])
    del sys.argv[1:4]
    if sys.argv[1] == "types-api":
        vars(types_api)["TypesSettings"] = lambda **settings: TypesSettings(**settings | bounds)
    else:
        vars(serve)["Settings"] = lambda **settings: Settings(**settings | bounds)
    main()


if __name__ == "__main__":
    run()
