"""The workload controllers that are built from the Go module proxy: one pinned version of each.

Programs of the groups in ``SHARED`` are built with the libraries of the end-to-end tests' API server, so that Go
compiles little more than their own packages. Every other program has a module of its own, with the sums of its release.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.proofs.rig import binaries
from tests.proofs.rig.toolchain import build_package, locked, module_folder, require_go

_KUBERAY_GROUP, _JOBSET_GROUP = "shared", "shared-jobset"
# The release of controller-runtime: interfaces differ between 0.22 and 0.23, and 0.24 needs newer libraries.
SHARED = {_KUBERAY_GROUP: "v0.22.4", _JOBSET_GROUP: "v0.23.3"}
_LINK = "-s -w"
_REPLACE = re.compile(r"^\s*(?:replace\s+)?(\S+(?:\s+v\S+)?)\s+=>\s+(\S+)\s+(v\S+)\s*$", re.MULTILINE)
_GO_LINE = re.compile(r"^go \S+$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Program:
    """A program of a Go module; ``group`` names the programs that are built within one module, empty for none.

    ``replaces`` are needed next to those of its own go.mod.
    """

    name: str
    module: str
    version: str
    package: str
    group: str = ""
    replaces: tuple[str, ...] = ()

    @property
    def binary(self) -> str:
        """The name of its file."""
        return f"{self.name}-{self.version}"

    def source(self) -> Path:
        """Return the folder of the module's source, for its CRDs and webhooks."""
        return module_folder(self.module, self.version)


JOBSET = Program("jobset", "sigs.k8s.io/jobset", "v0.12.0", "sigs.k8s.io/jobset", _JOBSET_GROUP)
LWS = Program("lws", "sigs.k8s.io/lws", "v0.9.0", "sigs.k8s.io/lws/cmd", _JOBSET_GROUP)
_KUBERAY = "github.com/ray-project/kuberay/ray-operator"
KUBERAY = Program("kuberay", _KUBERAY, "v1.6.1", _KUBERAY, _KUBERAY_GROUP)
_MPI = "github.com/kubeflow/mpi-operator"
MPI_OPERATOR = Program("mpi-operator", _MPI, "v0.7.0", f"{_MPI}/cmd/mpi-operator", _KUBERAY_GROUP)
KUEUE = Program("kueue", "sigs.k8s.io/kueue", "v0.18.2", "sigs.k8s.io/kueue/cmd/kueue")
AGENT_SANDBOX = Program(
    "agent-sandbox", "sigs.k8s.io/agent-sandbox", "v0.5.3", "sigs.k8s.io/agent-sandbox/cmd/agent-sandbox-controller"
)
_ARGO_WORKFLOWS = "github.com/argoproj/argo-workflows/v4"
ARGO_WORKFLOWS = Program("argo-workflows", _ARGO_WORKFLOWS, "v4.0.2", f"{_ARGO_WORKFLOWS}/cmd/workflow-controller")
_KSERVE = "github.com/kserve/kserve"
KSERVE = Program("kserve", _KSERVE, "v0.20.0", f"{_KSERVE}/cmd/manager")
_VOLCANO = "volcano.sh/volcano"
# Its go.mod takes the types from a folder of its repository, which the module does not carry.
_VOLCANO_TYPES = ("volcano.sh/apis => volcano.sh/apis v1.14.0",)
VOLCANO = Program("volcano", _VOLCANO, "v1.14.1", f"{_VOLCANO}/cmd/controller-manager", "volcano", _VOLCANO_TYPES)
VOLCANO_WEBHOOK = Program(
    "volcano-webhook", _VOLCANO, "v1.14.1", f"{_VOLCANO}/cmd/webhook-manager", "volcano", _VOLCANO_TYPES
)
_TEKTON = "github.com/tektoncd/pipeline"
TEKTON = Program("tekton", _TEKTON, "v1.9.0", f"{_TEKTON}/cmd/controller", "tekton")
TEKTON_WEBHOOK = Program("tekton-webhook", _TEKTON, "v1.9.0", f"{_TEKTON}/cmd/webhook", "tekton")
_TRAINING = "github.com/kubeflow/training-operator"
TRAINING_OPERATOR = Program("training-operator", _TRAINING, "v1.9.3", f"{_TRAINING}/cmd/training-operator.v1")
_TRAINER = "github.com/kubeflow/trainer/v2"
TRAINER = Program("trainer", _TRAINER, "v2.3.0", f"{_TRAINER}/cmd/trainer-controller-manager")
_KRUISE = "github.com/openkruise/kruise"
KRUISE = Program("kruise", _KRUISE, "v1.8.3", _KRUISE)
_ARGO_ROLLOUTS = "github.com/argoproj/argo-rollouts"
ARGO_ROLLOUTS = Program("argo-rollouts", _ARGO_ROLLOUTS, "v1.10.1", f"{_ARGO_ROLLOUTS}/cmd/rollouts-controller")
_APPWRAPPER = "github.com/project-codeflare/appwrapper"
APPWRAPPER = Program("appwrapper", _APPWRAPPER, "v1.2.0", f"{_APPWRAPPER}/cmd")
_TOGETHER = (JOBSET, LWS, KUBERAY, MPI_OPERATOR)


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
                    build_package(program.package, target, _module(folder, program), _LINK, say)
    return {program.name: target for program, target in built.items()}


def _module(folder: Path, program: Program) -> Path:
    """Return the folder of the module that a program is built within."""
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
    requirements = [f"require {program.module} {program.version}" for program in _TOGETHER if program.group == group]
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
