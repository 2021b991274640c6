"""Folders with what a member showed: ``member.json`` about it, and a line for each workload in ``workloads.jsonl.gz``.

Values that may be secret are left out, as in recordings.
"""

import gzip
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson

from karta_interpreter.base.errors import RecordingError
from karta_interpreter.base.k8s.values import GVK, JSON, Object, objects_in
from karta_interpreter.definitions.karta.reference_resolver import Known
from karta_interpreter.engine.verification import Evidence
from karta_interpreter.webhook.wire.redaction import Redaction

_ABOUT: Final = "member.json"
_WORKLOADS: Final = "workloads.jsonl.gz"
_FORMAT: Final = "karta-interpreter-member"
_LONGEST: Final = 2**26
"""The most bytes of a line, which has all pods of a workload."""


@dataclass(frozen=True, slots=True)
class Saved:
    """The part of a folder that is not about one workload. ``time`` is in seconds since 1970."""

    time: float
    crds: tuple[Object, ...] = ()
    references: tuple[Object, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def reader(self) -> Known:
        """The objects that definitions look up."""
        return Known.of(self.references, {GVK.of(each) for each in self.references})

    def crd(self, gvk: GVK) -> Object | None:
        """Return the CRD of a kind."""
        return next((each for each in self.crds if _kind(each) == (gvk.group, gvk.kind)), None)


def _kind(crd: Object) -> tuple[JSON, JSON]:
    spec = crd.get("spec") or {}
    return spec.get("group"), (spec.get("names") or {}).get("kind")


def save(folder: Path, saved: Saved, workloads: Iterable[Evidence]) -> None:
    """Write a folder. Raises OSError."""
    redaction = Redaction(secrets.token_bytes())
    folder.mkdir(parents=True, exist_ok=True)
    with gzip.open(folder / _WORKLOADS, "wb") as file:
        for evidence in workloads:
            file.write(redaction.redacted_document(orjson.dumps(evidence.to_json())) + b"\n")
    about = {"format": _FORMAT, "version": 1, "time": saved.time, "problems": saved.problems, "crds": saved.crds}
    references = orjson.loads(redaction.redacted_document(orjson.dumps({"references": saved.references})))
    (folder / _ABOUT).write_bytes(orjson.dumps({**about, **references}))


def read_about(folder: Path) -> Saved:
    """Return the part of a folder that is not about one workload. Raises RecordingError and OSError."""
    try:
        about = orjson.loads((folder / _ABOUT).read_bytes())
        crds, references = (tuple(objects_in(about[name])) for name in ("crds", "references"))
        saved = Saved(float(about["time"]), crds, references, tuple(map(str, about["problems"])))
        is_ours = (about["format"], about["version"]) == (_FORMAT, 1)
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise _not_ours(folder) from error
    if not is_ours:
        raise _not_ours(folder)
    return saved


def _not_ours(folder: Path) -> RecordingError:
    return RecordingError(f"{folder}: it is not a folder that verify --save of this version has written")


def read_workloads(folder: Path, saved: Saved) -> Iterator[Evidence]:
    """Yield the workloads of a folder. Raises RecordingError and OSError."""
    reader = saved.reader
    try:
        with gzip.open(folder / _WORKLOADS) as file:
            while line := file.readline(_LONGEST):
                yield Evidence.of(orjson.loads(line), saved.time, reader)
    except (EOFError, gzip.BadGzipFile, orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise RecordingError(f"{folder}: {_WORKLOADS} is damaged, or was cut off") from error
