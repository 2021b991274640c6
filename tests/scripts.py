"""Scripts, asked without the server."""

from collections.abc import Sequence
from typing import Any

from karta_interpreter.k8s.values import JSON
from karta_interpreter.lua.answers import jobs, together
from karta_interpreter.lua.machine.worker import run_job
from karta_interpreter.lua.script import Script


def answer(scripts: Sequence[Script], **about: Any) -> dict[str, JSON]:
    """The answer of the scripts of one operation, by Karmada's result names; ``about`` are the arguments of `jobs`."""
    return together([run_job(job) for job in jobs(scripts, **about)])
