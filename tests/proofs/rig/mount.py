"""A folder as Kubernetes mounts a Secret or ConfigMap: its files change all at once."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Mount:
    """A folder whose files are links through ``..data``, which is turned from one version to the next."""

    folder: Path
    version: int = 0

    def write(self, files: Mapping[str, bytes]) -> None:
        """Replace the content, which always has the same names."""
        self.version += 1
        content = self.folder / f"..version-{self.version}"
        content.mkdir(parents=True)
        for name, data in files.items():
            (content / name).write_bytes(data)
        link = self.folder / "..new"
        link.symlink_to(content.name)
        link.rename(self.folder / "..data")
        for name in files:
            if not (self.folder / name).is_symlink():
                (self.folder / name).symlink_to(Path("..data") / name)
