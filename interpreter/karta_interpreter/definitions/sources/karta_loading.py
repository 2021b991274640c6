"""Loads the Kartas of a cluster: a child process judges each, under limits, before this process compiles it.

Anybody who may write Kartas writes their texts. No pattern over a text, and no walk over it, may cost calls anything.
The child runs this file, too (`start`).
"""

import marshal
from dataclasses import replace
from typing import Final

import msgspec

from karta_interpreter.base.errors import SandboxError
from karta_interpreter.base.findings import Finding, Severity, error
from karta_interpreter.base.k8s import Object
from karta_interpreter.base.sandbox import Pool, Process, Program
from karta_interpreter.base.sandbox.child import Answer, Channel
from karta_interpreter.definitions.karta import gvk_of, loading, name_of
from karta_interpreter.languages.lua.reading import without_linting

SECONDS: Final = 5.0
"""The longest that a Karta may take, as a review of it may."""
_MEMORY: Final = 2**30
_MOST_KEPT: Final = 80 * 2**20
_IDLE_SECONDS: Final = 30.0
_ATTEMPTS: Final = 3
_FINDINGS: Final = msgspec.json.Decoder(list[Finding])


def start() -> Answer:
    """Return the function that answers a Karta with its findings."""

    def answer(channel: Channel, _: bytes, payload: bytes) -> None:
        channel.send(b"A", msgspec.json.encode(_loaded(marshal.loads(payload)).findings))  # noqa: S302 - of the server
        channel.end_above(_MOST_KEPT)

    return answer


def _loaded(obj: Object, source: str = "") -> loading.Loaded:
    try:
        return loading.load_object(obj, source)
    except Exception as err:  # noqa: BLE001 - an error of one object does not affect the others
        return _unusable(obj, source, error("unreadable", (), f"cannot be read: {type(err).__name__}: {err}"))


def _unusable(obj: Object, source: str, *findings: Finding) -> loading.Loaded:
    return loading.Loaded(None, findings, name_of(obj), gvk_of(obj), source)


POOL: Final = Pool(lambda: Process(Program(__file__, _MEMORY)), 1, idle_seconds=_IDLE_SECONDS)


def load_object(obj: Object, source: str) -> loading.Loaded:
    """Return the definition of one Karta object, or its findings. Raises SandboxError only if no process can be had."""
    findings = [replace(finding, source=source) for finding in _judged(obj)]
    if any(finding.severity is Severity.ERROR for finding in findings):
        return _unusable(obj, source, *findings)
    with without_linting():  # the child has done it
        loaded = _loaded(obj, source)
    return loaded.with_findings(findings) if loaded.definition else loaded


def _judged(obj: Object, attempts: int = _ATTEMPTS) -> list[Finding]:
    try:
        with POOL.process("", SECONDS) as (process, _):
            process.send(b"K", marshal.dumps({**obj}), SECONDS)
            return _FINDINGS.decode(process.receive()[1])
    except SandboxError as err:
        if err.is_of_request:
            return [error("unreadable", (), f"cannot be read: {err.after(SECONDS)}")]
        if attempts <= 1:
            raise
    return _judged(obj, attempts - 1)
