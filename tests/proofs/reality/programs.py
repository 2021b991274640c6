"""The workload controllers of ``controllers.yaml``, which are built from the Go module proxy or a folder of sources.

Programs of the groups in ``SHARED`` are built with the libraries of the end-to-end tests' API server, so that Go
compiles little more than their own packages. Every other program has a module of its own, with the sums of its release.
A program of a repository is built by the go.mod of its source tree, which stays as it is: changes are Go's overlay.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import yaml

from tests.proofs.rig import binaries
from tests.proofs.rig.api import Object
from tests.proofs.rig.toolchain import BuildError, build_package, locked, module_folder, require_go

FILE = Path(__file__).with_name("controllers.yaml")
# The release of controller-runtime: interfaces differ between 0.22 and 0.23, and 0.24 needs newer libraries.
SHARED = {"shared": "v0.22.4", "shared-jobset": "v0.23.3"}
_LINK = "-s -w"
_REPLACE = re.compile(r"^\s*(?:replace\s+)?(\S+(?:\s+v\S+)?)\s+=>\s+(\S+)\s+(v\S+)\s*$", re.MULTILINE)
_GO_LINE = re.compile(r"^go \S+$", re.MULTILINE)


def source_tree(repository: str) -> Path:
    """Return the source tree of a repository in the folder of FROM. Raises BuildError if there is none."""
    named = os.environ.get("FROM")
    tree = Path(named or "FROM") / repository.replace("/", "+")
    if not named or not tree.is_dir():
        raise BuildError(f"{tree} has no source of {repository}: name a folder of source trees by FROM")
    return tree.resolve()


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a file that a build needs: a text that the file has, and what stands there instead."""

    file: str
    old: str
    new: str

    def of(self, text: str) -> str:
        """Return the text of the file with the change. Raises BuildError if the old text is not there."""
        if self.old not in text:
            raise BuildError(f"{self.file} lacks {self.old!r}, which a change for the build replaces")
        return text.replace(self.old, self.new)


@dataclass(frozen=True, slots=True)
class Program:
    """A program of a Go module; ``group`` names the programs that are built within one module, empty for none.

    ``replaces`` are needed next to those of its own go.mod. One with a ``repository`` is built from the source tree of
    a commit, its module is the ``folder`` in it, and ``changes`` are those that the build needs.
    """

    name: str
    module: str
    version: str
    package: str
    group: str = ""
    replaces: tuple[str, ...] = ()
    repository: str = ""
    folder: str = ""
    changes: tuple[Change, ...] = ()

    @property
    def binary(self) -> str:
        if not self.changes:
            return f"{self.name}-{self.version}"
        return f"{self.name}-{self.version}-{hashlib.sha256(repr(self.changes).encode()).hexdigest()[:12]}"

    @property
    def exists(self) -> bool:
        """Whether it can be built: its module is public, or its source tree is there."""
        try:
            return not self.repository or bool(source_tree(self.repository))
        except BuildError:
            return False

    def source(self) -> Path:
        """Return the folder of the module's source, for its CRDs and webhooks."""
        if self.repository:
            return source_tree(self.repository) / self.folder
        return module_folder(self.module, self.version)


def programs_of(entry: Object) -> tuple[Program, ...]:
    return tuple(map(partial(_program, entry["name"]), entry.get("programs", ())))


def _program(controller: str, entry: Object) -> Program:
    if "repository" in entry:
        changes = tuple(Change(**change) for change in entry.get("changes", ()))
        return Program(
            entry.get("name", controller),
            module="",
            version=f"{entry['version']}+{entry['commit'][:7]}",
            package=f"./{entry.get('package', '')}",
            repository=entry["repository"],
            folder=entry.get("folder", ""),
            changes=changes,
        )
    module = entry["module"]
    package = f"{module}/{entry['package']}" if "package" in entry else module
    name, replaces = entry.get("name", controller), tuple(entry.get("replaces", ()))
    return Program(name, module, entry["version"], package, entry.get("group", ""), replaces)


def build(programs: Iterable[Program], say: Callable[[str], None]) -> Mapping[str, Path]:
    """Return the file of each program by its name; build what is missing. Raises BuildError."""
    folder = binaries.NEWEST.folder / "reality"
    folder.mkdir(parents=True, exist_ok=True)
    built = {program: folder / program.binary for program in programs}
    # A binary that exists is complete: nobody waits for those of others.
    if not all(target.exists() for target in built.values()):
        require_go()
        with locked(folder / "lock"):
            for program, target in built.items():
                if not target.exists():
                    _build(folder, program, target, say)
    return {program.name: target for program, target in built.items()}


def _build(folder: Path, program: Program, target: Path, say: Callable[[str], None]) -> None:
    if not program.repository:
        build_package(program.package, target, _module(folder, program), _LINK, say)
        return
    flags = f"-trimpath -buildvcs=false -overlay={overlay(folder / f'{program.binary}.overlay', program)}"
    # What a tree carries of its modules follows its workspace, if it has one.
    work = program.source() / "go.work"
    workspace = str(work) if work.exists() else "off"
    build_package(program.package, target, program.source(), _LINK, say, GOFLAGS=flags, GOWORK=workspace)


def overlay(folder: Path, program: Program) -> Path:
    """Write the files of a source tree that are changed, and return the file that names them to Go."""
    folder.mkdir(parents=True, exist_ok=True)
    texts: dict[Path, str] = {}
    for change in program.changes:
        file = program.source() / change.file
        texts[file] = change.of(texts.get(file) or file.read_text(encoding="utf-8"))
    replaced = {}
    for number, (file, text) in enumerate(texts.items()):
        changed = folder / f"{number}-{file.name}"
        changed.write_text(text, encoding="utf-8")
        replaced[str(file)] = str(changed)
    named = folder / "overlay.json"
    named.write_text(json.dumps({"Replace": replaced}), encoding="utf-8")
    return named


def _module(folder: Path, program: Program) -> Path:
    lines = _shared_go_mod(program.group) if program.group in SHARED else _own_go_mod(program)
    text = "\n".join([*lines, ""])
    # Another set of versions is another module.
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    module = folder / f"module-{program.group or program.name}-{digest}"
    if not (module / "go.mod").exists():
        module.mkdir(exist_ok=True)
        if program.group not in SHARED:
            # The checksum database does not have all of the sums that the release was made with.
            (module / "go.sum").write_bytes((program.source() / "go.sum").read_bytes())
        (module / "go.mod").write_text(text, encoding="utf-8")
    return module


def _shared_go_mod(group: str) -> list[str]:
    known = [each for entry in yaml.safe_load(FILE.read_text(encoding="utf-8")) for each in programs_of(entry)]
    requirements = [f"require {each.module} {each.version}" for each in known if each.group == group]
    replaced = f"replace sigs.k8s.io/controller-runtime => sigs.k8s.io/controller-runtime {SHARED[group]}"
    return [*binaries.go_mod(), *requirements, replaced]


def _own_go_mod(program: Program) -> list[str]:
    released = (program.source() / "go.mod").read_text(encoding="utf-8")
    go_line = _GO_LINE.search(released)
    return [
        f"module karta-interpreter.io/{program.group or program.name}",
        go_line.group() if go_line else "go 1.25.0",
        f"require {program.module} {program.version}",
        # A module's own replacements count only where it is the main one.
        *(f"replace {old} => {new} {version}" for old, new, version in _REPLACE.findall(released)),
        *(f"replace {replacement}" for replacement in program.replaces),
    ]
