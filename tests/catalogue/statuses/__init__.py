"""Which of Karta's statuses each state of a workload has, by kind and by the name of the case that shows it.

Expected values are reasoned from what each kind's controller means by its phases and conditions.
"""

from tests.catalogue.statuses.batch import BATCH
from tests.catalogue.statuses.flux import FLUX
from tests.catalogue.statuses.inference import INFERENCE
from tests.catalogue.statuses.kruise import KRUISE
from tests.catalogue.statuses.kubeflow import KUBEFLOW
from tests.catalogue.statuses.kubernetes import KUBERNETES
from tests.catalogue.statuses.kyverno import KYVERNO
from tests.catalogue.statuses.machines import MACHINES
from tests.catalogue.statuses.pipelines import PIPELINES
from tests.catalogue.statuses.ray import RAY
from tests.catalogue.statuses.serving import SERVING
from tests.catalogue.statuses.stateful import STATEFUL
from tests.catalogue.statuses.states import States

STATUSES: States = {
    **KUBERNETES, **KUBEFLOW, **RAY, **SERVING, **INFERENCE, **BATCH, **KRUISE, **FLUX, **KYVERNO,
    **MACHINES, **PIPELINES, **STATEFUL,
}  # fmt: skip
