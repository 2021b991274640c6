"""Archives that are the same bytes for the same files."""

import gzip
import io
import tarfile
from collections.abc import Mapping
from pathlib import Path


def files_of(folder: Path, prefix: str) -> dict[str, bytes]:
    """Return the files below a folder, by their names in an archive."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {f"{prefix}/{path.relative_to(folder).as_posix()}": path.read_bytes() for path in paths}


def contents(path: Path) -> dict[str, bytes]:
    """Return the files of a packed archive by name, in its order."""
    with tarfile.open(path, "r:gz") as archive:
        return {member.name: unpacked.read() for member in archive if (unpacked := archive.extractfile(member))}


def write(path: Path, files: Mapping[str, bytes], epoch: int) -> None:
    """Write a tar.gz of files in the given order, without the time, user or machine of the build."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.mode = len(data), epoch, 0o644
            archive.addfile(member, io.BytesIO(data))
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=epoch) as compressed:
        compressed.write(packed.getvalue())
