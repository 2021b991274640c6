"""An API server's validation of objects by their CRDs."""

import json
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from karta_interpreter.base.k8s.values import Object


def validated(program: Path, files: Iterable[Path], objects: Iterable[Object]) -> Iterator[Object | None]:
    """Yield what is refused and unknown of each object, and what is stored; None where there is no CRD."""
    lines = "".join(f"{json.dumps(obj)}\n" for obj in objects)
    done = subprocess.run([program, *files], input=lines, capture_output=True, text=True, check=True)
    return map(json.loads, done.stdout.splitlines())
