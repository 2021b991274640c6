"""The program of the image, run from its root file system, with the files of this machine that tests name."""

import shlex
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.proofs.image.building import ROOT, Image

# A namespace of mounts keeps the mounts to this process, and `exec` keeps its number. With PYTHONPATH a test runs the
# code of another release with the libraries of the image.
_SCRIPT = """#!/bin/sh
exec {unshare} --mount --propagation private sh -euc '
for path in {shown}; do mount --rbind "$path" "{root}$path"; done
before=${{PYTHONPATH-}}
export {environment}
PYTHONPATH=${{before:+$before:}}$PYTHONPATH
exec {chroot} "{root}" {command} "$@"' sh "$@"
"""


def write_program(file: Path, image: Image) -> None:
    """Write an executable file that runs the image's program as root of this machine.

    It sees the temporary folder, this checkout, and what it needs to find names; all else is the image's.
    """
    shown = [Path(path) for path in ("/proc", "/dev", "/etc/hosts", "/etc/resolv.conf", tempfile.gettempdir())]
    for path in (*shown, ROOT):
        _make(image.root, path)
    tools = {name: shutil.which(name) or name for name in ("unshare", "chroot")}
    text = _SCRIPT.format(
        root=image.root,
        shown=_words([*map(str, shown), str(ROOT)]),
        environment=_words(image.config["Env"]),
        command=_words(image.config["Entrypoint"]),
        **tools,
    )
    file.write_text(text, encoding="utf-8")
    file.chmod(0o755)


def _make(root: Path, path: Path) -> None:
    """Make the place where a file or folder of this machine is shown."""
    place = root / path.relative_to("/")
    if path.is_dir():
        place.mkdir(parents=True, exist_ok=True)
    else:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()


def _words(words: Sequence[str]) -> str:
    """Return words for a script inside single quotes; raises ValueError for one that would need them itself."""
    if quoted := [word for word in words if shlex.quote(word) != word]:
        raise ValueError(f"cannot be written into a script: {quoted}")
    return " ".join(words)
