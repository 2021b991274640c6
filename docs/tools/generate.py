"""Write every file that is generated from the code, or with --check name those that are stale and fail.

Tables of measurements are not among them: `make bench`, `make conformance` and `make reality` write theirs.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

from deploy import write_kustomize, write_readme
from docs.tools import (
    write_catalogue,
    write_definitions,
    write_kinds,
    write_known,
    write_licenses,
    write_reality,
    write_reference,
    write_rooms,
)
from karta_interpreter import __version__
from karta_interpreter.base.k8s.yaml_writer import to_yaml
from karta_interpreter.cli.render import to_json
from karta_interpreter.definitions.karta import example_files
from karta_interpreter.definitions.karta.schema_export import custom_resource_definition, json_schema

ROOT = Path(__file__).parents[2]
CRD = ROOT / "deploy" / "helm" / "karta-interpreter-control-plane" / "files" / "kartas.run.ai.yaml"
SCHEMA = ROOT / "docs" / "karta.schema.json"


def schemas() -> dict[Path, str]:
    """Return the CRD and the JSON Schema of Kartas, by their paths."""
    return {CRD: to_yaml(custom_resource_definition()), SCHEMA: to_json(json_schema(__version__))}


def example() -> dict[Path, str]:
    """Return the first example as the package has it, for readers of the repository."""
    return {ROOT / "docs" / "examples" / "first" / name: text for name, text in example_files().items()}


def update(wanted: Mapping[Path, str], present: set[Path], *, check: bool) -> list[Path]:
    """Write the files that differ and delete those that are not wanted, unless it is a ``check``; return both."""
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    gone = sorted(present - wanted.keys())
    for path in () if check else stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(wanted[path], encoding="utf-8")
    for path in () if check else gone:
        path.unlink()
    return [*stale, *gone]


def main() -> int:
    """Update the files in the order in which they depend on each other."""
    check = "--check" in sys.argv
    rooms = write_rooms.pages() | write_reality.pages()
    written = schemas() | example() | rooms | write_reference.pages() | write_definitions.pages()
    written |= write_known.pages() | write_kinds.pages()
    changed = update(written, set(), check=check)
    changed += update(write_catalogue.pages(), set(), check=check)
    changed += update(write_readme.pages(), set(), check=check)
    changed += update(write_licenses.pages(), set(), check=check)
    if write_kustomize.tool("helm"):
        changed += update(write_kustomize.files(), write_kustomize.present(), check=check)
    else:
        sys.stderr.write("deploy/kustomize is left out: helm is missing, run `make tools`\n")
    for path in changed:
        sys.stderr.write(f"{'stale, run make generate' if check else 'written'}: {path.relative_to(ROOT)}\n")
    return int(check and bool(changed))


if __name__ == "__main__":
    sys.exit(main())
