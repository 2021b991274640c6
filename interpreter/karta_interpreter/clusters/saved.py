"""Folders with what a member showed: ``member.json`` about it, and a line for each workload in ``workloads.jsonl.gz``.

Texts that no operation reads are left out, as in recordings, and the files are for their owner only. ``member.json`` is
sealed and has the digest of the other file, so that damage, and files of two folders, are noticed before they are used.
"""

import gzip
import secrets
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import file_digest
from io import BufferedRandom, BufferedReader
from pathlib import Path
from typing import BinaryIO, Final

import orjson
from msgspec import Struct

from karta_interpreter.base.errors import RecordingError
from karta_interpreter.base.files import NewFiles, is_sealed, sealed
from karta_interpreter.base.k8s import GVK, Object, Projection, count_values, full_name, get, objects_in
from karta_interpreter.definitions.karta import Definition, Known
from karta_interpreter.engine.operations import IDENTITY, reads_of_karta
from karta_interpreter.engine.redaction import Redaction
from karta_interpreter.engine.verification import Evidence, reads_of_evidence

_ABOUT: Final = "member.json"
_WORKLOADS: Final = "workloads.jsonl.gz"
_FORMAT: Final = "karta-interpreter-member"
# The most bytes of ``member.json``, and of a line, which has all pods of a workload.
_LONGEST: Final = 2**26
# The most bytes of all lines: the pods of the largest cluster have half as many.
_MOST: Final = 2**30

# The most keys and values of ``member.json``, and of a line: 13,000 pods have as many. They take 400 MiB.
_MOST_VALUES: Final = 2**22
_MODE: Final = 0o600
_OTHER_CONTENT: Final = "its content is not the content that was saved"
_UNREAD, _UNREADABLE = "the rest is not read", "verify would not read it"
_DAMAGED: Final = (EOFError, gzip.BadGzipFile, zlib.error, ValueError, KeyError, TypeError, AttributeError)


class Saved(Struct, frozen=True):
    """The part of a folder that is not about one workload. ``time`` is in seconds since 1970.

    ``digest`` is that of the file of workloads, empty in a folder of version 0.1.
    """

    time: float
    crds: tuple[Object, ...] = ()
    references: tuple[Object, ...] = ()
    problems: tuple[str, ...] = ()
    digest: str = ""

    @property
    def reader(self) -> Known:
        """The objects that definitions look up."""
        return Known.of(self.references, {GVK.of(obj) for obj in self.references})

    def crd(self, gvk: GVK) -> Object | None:
        """Return the CRD of a kind."""
        fields = {("spec", "group"): gvk.group, ("spec", "names", "kind"): gvk.kind}
        return next((crd for crd in self.crds if all(get(crd, path) == value for path, value in fields.items())), None)


def save(folder: Path, state: Saved, workloads: Iterable[tuple[Definition, Evidence]]) -> list[str]:
    """Write a folder, and return which workloads are too large for it. Raises OSError, and RecordingError.

    An older folder at the path stays as it is until the new one is complete.
    """
    redaction, left_out = Redaction(secrets.token_bytes()), list[str]()
    reads = dict[GVK, tuple[Definition, Projection]]()
    folder.mkdir(parents=True, exist_ok=True)
    with NewFiles(_MODE) as files:
        with files.open(folder / _WORKLOADS) as packed:
            _write_workloads(packed, workloads, redaction, reads, left_out)
            packed.seek(0)
            digest = _digest(packed)
        problems = *state.problems, *left_out
        about = {"format": _FORMAT, "version": 1, "time": state.time, "problems": problems, "crds": state.crds}
        references = orjson.loads(orjson.dumps(state.references))
        for reference in references:
            redaction.redact(
                reference, _reads_of_reference(GVK.of(reference), [definition for definition, _ in reads.values()])
            )
        content = sealed(orjson.dumps({**about, "references": references, "workloads": digest}))
        _check_size(_ABOUT, content, _UNREADABLE)
        with files.open(folder / _ABOUT) as file:
            file.write(content)
    return left_out


def _write_workloads(
    packed: BinaryIO,
    workloads: Iterable[tuple[Definition, Evidence]],
    redaction: Redaction,
    reads: dict[GVK, tuple[Definition, Projection]],
    left_out: list[str],
) -> None:
    """Write a line for each workload. Add to ``reads`` what its definition reads, or say why it is ``left_out``."""
    size = 0
    with gzip.open(packed, "wb") as file:
        for definition, evidence in workloads:
            try:
                shown = orjson.loads(orjson.dumps(replace(evidence, reader=None)))
                if definition.gvk not in reads:
                    reads[definition.gvk] = definition, reads_of_evidence(definition)
                redaction.redact(shown, [reads[definition.gvk][1]])
                line = orjson.dumps(shown) + b"\n"
                _check_size("its line", line, _UNREADABLE)
                _check("the folder", size + len(line), _MOST, _UNREADABLE)
                size += file.write(line)
            except (RecordingError, orjson.JSONEncodeError) as error:
                name = full_name(evidence.object.get("metadata"))
                reason = str(error) if isinstance(error, RecordingError) else "it is nested too deeply"
                left_out.append(f"{GVK.of(evidence.object)} {name} is not saved: {reason}")


def _digest(file: BufferedRandom | BufferedReader) -> str:
    return file_digest(file, "sha256").hexdigest()


def _reads_of_reference(gvk: GVK, definitions: Sequence[Definition]) -> list[Projection]:
    """Return what definitions read of an object that they look up, alone or as an element of a list."""
    identity = Projection()
    identity.take(*IDENTITY)
    reads = [identity]
    for definition in definitions:
        values = reads_of_karta(definition).variables
        for reference in definition.references:
            if reference.gvk == gvk:
                value = values[reference.name]
                reads += [value, value.each()]
    return reads


@contextmanager
def _read(folder: Path) -> Iterator[None]:
    """Raise RecordingError for files that cannot be read, and for other content."""
    try:
        yield
    except _DAMAGED as error:
        what = "it is damaged, was cut off, or verify --save of this version has not written it"
        why = f": {error}" if type(error) is ValueError and str(error) else ""
        raise RecordingError(f"{folder}: {what}{why}") from error
    except FileNotFoundError as error:
        raise RecordingError(f"{error.filename} is missing; verify --save writes the files of a folder") from error
    except OSError as error:
        raise RecordingError(str(error)) from error


def read_about(folder: Path) -> Saved:
    """Return what a folder holds for all workloads together. Raises RecordingError."""
    with _read(folder), _regular(folder / _ABOUT).open("rb") as file:
        content = file.read(_LONGEST + 1)
        _check_size(_ABOUT, content)
        if is_sealed(content) is False:
            raise ValueError(_OTHER_CONTENT)
        about = orjson.loads(content)
        if (about["format"], about["version"]) != (_FORMAT, 1):
            raise ValueError
        crds, references = (tuple(objects_in(about[name])) for name in ("crds", "references"))
        problems = tuple(map(str, about["problems"]))
        return Saved(float(about["time"]), crds, references, problems, about.get("workloads", ""))


def read_workloads(folder: Path, state: Saved) -> Iterator[Evidence]:
    """Yield the workloads of a folder. Raises RecordingError."""
    reader, size = state.reader, 0
    with _read(folder), _regular(folder / _WORKLOADS).open("rb") as packed, gzip.open(packed) as file:
        if state.digest and _digest(packed) != state.digest:
            raise ValueError(_OTHER_CONTENT)
        packed.seek(0)
        while line := file.readline(_LONGEST + 1):
            size += len(line)
            _check_size("a workload", line)
            _check("its content", size, _MOST)
            yield Evidence.of(orjson.loads(line), state.time, reader)


def _regular(path: Path) -> Path:
    """Return the path of a file, not of a link or a device. Raises RecordingError."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise RecordingError(f"{path}: it is not a regular file")
    return path


def _check_size(what: str, content: bytes, effect: str = _UNREAD) -> None:
    _check(what, len(content), _LONGEST, effect)
    _check(what, count_values(content), _MOST_VALUES, effect, "keys and values")


def _check(what: str, size: int, most: int, effect: str = _UNREAD, unit: str = "bytes") -> None:
    if size > most:
        raise RecordingError(f"{what} has more than {most} {unit}; {effect}")
