"""The controllers that the experiment knows: add one here, and its cases in ``cases/NAME.yaml``."""

from tests.reality.controller import Controller
from tests.reality.controllers.agent_sandbox import AGENT_SANDBOX
from tests.reality.controllers.appwrapper import APPWRAPPER
from tests.reality.controllers.argo_rollouts import ARGO_ROLLOUTS
from tests.reality.controllers.argo_workflows import ARGO_WORKFLOWS
from tests.reality.controllers.builtin import BUILTIN
from tests.reality.controllers.jobset import JOBSET
from tests.reality.controllers.kruise import KRUISE
from tests.reality.controllers.kserve import KSERVE
from tests.reality.controllers.kuberay import KUBERAY
from tests.reality.controllers.kueue import KUEUES
from tests.reality.controllers.lws import LWS
from tests.reality.controllers.mpi import MPI
from tests.reality.controllers.trainer import TRAINER
from tests.reality.controllers.training_operator import TRAINING_OPERATOR
from tests.reality.controllers.volcano import VOLCANO
from tests.reality.programs import SHARED

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
    *KUEUES,
)


def shares_module(controller: Controller) -> bool:
    """Whether its programs are built with the libraries of the API server."""
    return all(program.group in SHARED for program in controller.programs)
