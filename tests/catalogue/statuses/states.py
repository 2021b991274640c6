"""The sets of statuses that the tables are made of."""

from typing import TypeAlias

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.engine.evaluation.status import Status

States: TypeAlias = dict[GVK, dict[str, set[Status]]]
"""For each kind, from the name of a case for InterpretHealth to the statuses that its object has."""

INITIALIZING, RUNNING, COMPLETED = {Status.INITIALIZING}, {Status.RUNNING}, {Status.COMPLETED}
FAILED, DEGRADED, UNDEFINED = {Status.FAILED}, {Status.DEGRADED}, {Status.UNDEFINED}
SUSPENDED, SUSPENDING, RESUMING = {Status.SUSPENDED}, {Status.SUSPENDING}, {Status.RESUMING}
