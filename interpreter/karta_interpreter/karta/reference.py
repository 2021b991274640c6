"""References: other objects that a definition's expressions read as ``$name``, in their compiled form."""

from dataclasses import dataclass
from enum import StrEnum

from karta_interpreter.jq import Query
from karta_interpreter.k8s.gvk import GVK


class LabelOperator(StrEnum):
    """The operators of a label selector (``metav1.LabelSelectorOperator``)."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"


@dataclass(frozen=True, slots=True)
class LabelRule:
    """What is asked of one label; a value is text or an expression about the workload."""

    key: str
    operator: LabelOperator
    values: tuple[str | Query, ...] = ()


@dataclass(frozen=True, slots=True)
class Reference:
    """Where the value of a variable is.

    With a ``lookup``, which gives a name, it is one object, or null; else the list of the objects whose labels follow
    the ``labels``. Without a ``namespace`` they are in that of the workload, if they are in any.
    """

    name: str
    gvk: GVK
    namespace: Query | None = None
    lookup: Query | None = None
    labels: tuple[LabelRule, ...] = ()
