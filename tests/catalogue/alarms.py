"""What ``verify`` says about real states although the definition is right, each with the reason why it may."""

from typing import NamedTuple

from karta_interpreter.engine.verification import Evidence, Judgement, Question
from tests.support.recorded import state_of


class Alarm(NamedTuple):
    """A difference that is named in states of a kind whose name begins so."""

    kind: str
    state: str
    question: Question
    reason: str


_OF_GUESTS = (
    "devices of which each node has a thousand are left out, and KubeVirt reserves 20 MiB more for QEMU since 1.9"
)
ALARMS = (
    Alarm(
        "Cluster",
        "cnpg-patched.",
        Question.REQUIREMENTS,
        "what a patch of the pods adds is text that no expression reads",
    ),
    Alarm(
        "Cluster",
        "cnpg-disabled.",
        Question.HEALTH,
        "the operator returns before it looks at a Cluster whose reconciliation somebody has disabled: it rests",
    ),
    Alarm(
        "Cluster",
        "cnpg-hibernated.",
        Question.HEALTH,
        "somebody wants no pods of it, and the operator waits for its first instance before it takes them away",
    ),
    Alarm(
        "Milvus",
        "milvus-paused.",
        Question.HEALTH,
        "the operator returns before it looks at pods if somebody has paused it: it rests, and is not moved",
    ),
    Alarm(
        "SparkConnect",
        "spark-connect-conf.",
        Question.COUNTS,
        "the operator writes the number into a server's command when it makes the pod, and changes none that is there",
    ),
    Alarm(
        "VirtualMachine",
        "vm-",
        Question.REQUIREMENTS,
        _OF_GUESTS,
    ),
    Alarm(
        "VirtualMachineInstance",
        "vmi-",
        Question.REQUIREMENTS,
        _OF_GUESTS,
    ),
    Alarm(
        "VirtualMachineInstanceReplicaSet",
        "vmirs-",
        Question.REQUIREMENTS,
        _OF_GUESTS,
    ),
    Alarm(
        "PodCliqueSet",
        "grove-clique-edited.",
        Question.COUNTS,
        "a PodClique keeps the number that it was made with, which the object does not show",
    ),
    Alarm(
        "ModelServing",
        "kthena-roles.",
        Question.HEALTH,
        "the operator counts groups whose pods have been ready, and says nothing when one of them is no longer",
    ),
    Alarm(
        "RoleBasedGroup",
        "rbg-engine-runtime.",
        Question.REQUIREMENTS,
        "what a profile of the cluster adds to a pod is not in the object",
    ),
    Alarm(
        "BroadcastJob",
        "broadcastjob-parallelism.",
        Question.COUNTS,
        "its parallelism lets one pod run at a time, and the other nodes follow",
    ),
    Alarm(
        "Workflow",
        "workflow-dag.",
        Question.REQUIREMENTS,
        "the most that any of its steps asks for is answered, and the step that runs asks for less",
    ),
    Alarm(
        "Workflow",
        "workflow-parallelism-unset.",
        Question.COUNTS,
        "without a parallelism as many steps run at once as are ready, which the object does not say",
    ),
)


def alarm_of(evidence: Evidence, judgement: Judgement) -> Alarm | None:
    """Return the row that knows a difference, or None."""
    kind, state = evidence.object["kind"], state_of(evidence)
    rows = (row for row in ALARMS if (row.kind, row.question) == (kind, judgement.question))
    return next((row for row in rows if state.startswith(row.state)), None)
