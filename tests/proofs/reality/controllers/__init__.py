"""The controllers that the experiment knows: add one here, and its cases in ``cases/NAME.yaml``."""

from tests.proofs.reality.controller import Controller
from tests.proofs.reality.controllers.agent_sandbox import AGENT_SANDBOX
from tests.proofs.reality.controllers.appwrapper import APPWRAPPER
from tests.proofs.reality.controllers.argo_rollouts import ARGO_ROLLOUTS
from tests.proofs.reality.controllers.argo_workflows import ARGO_WORKFLOWS
from tests.proofs.reality.controllers.builtin import BUILTIN
from tests.proofs.reality.controllers.jobset import JOBSET
from tests.proofs.reality.controllers.kruise import KRUISE
from tests.proofs.reality.controllers.kserve import KSERVE
from tests.proofs.reality.controllers.kuberay import KUBERAY
from tests.proofs.reality.controllers.kueue import KUEUES
from tests.proofs.reality.controllers.lws import LWS
from tests.proofs.reality.controllers.mpi import MPI
from tests.proofs.reality.controllers.tekton import TEKTON
from tests.proofs.reality.controllers.trainer import TRAINER
from tests.proofs.reality.controllers.training_operator import TRAINING_OPERATOR
from tests.proofs.reality.controllers.volcano import VOLCANO
from tests.proofs.reality.programs import SHARED

CONTROLLERS: tuple[Controller, ...] = (
    BUILTIN,
    JOBSET,
    LWS,
    KUBERAY,
    MPI,
    TRAINING_OPERATOR,
    TRAINER,
    KRUISE,
    ARGO_ROLLOUTS,
    APPWRAPPER,
    AGENT_SANDBOX,
    ARGO_WORKFLOWS,
    VOLCANO,
    KSERVE,
    TEKTON,
    *KUEUES,
)


def shares_module(controller: Controller) -> bool:
    """Whether its programs are built with the libraries of the API server."""
    return all(program.group in SHARED for program in controller.programs)
