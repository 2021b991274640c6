"""The operations of Karmada's resource interpreter, one module each, as pure functions.

An operation takes a definition and JSON values and returns JSON values: no clock, no I/O, no wire format. It raises
only `InterpretationError`. This package holds the answers and the code that only they need. Reading a definition
belongs to `karta_interpreter.definitions.karta`, the envelope to `karta_interpreter.webhook.wire`.
"""

from karta_interpreter.base.karmada import (
    CHANGED,
    COUNTING_OPERATIONS,
    LIVE,
    SLOTS,
    Operation,
    Results,
    by_operation,
    unread_reports,
)
from karta_interpreter.engine.operations.call import (
    DEFAULT_OPTIONS,
    ITEM_FIELDS,
    Call,
    Options,
    StatusItem,
    TargetComponent,
)
from karta_interpreter.engine.operations.dispatch import IDENTITY, own_answer, projection_of, reads_of_karta
from karta_interpreter.engine.operations.interpret_dependency import (
    ELSEWHERE,
    dependency_selector,
    left_out_text,
    named_objects,
    why_left_out,
)
from karta_interpreter.engine.operations.interpret_health import (
    absent_status,
    counted,
    healthy_statuses,
    is_behind,
    is_stale,
)
from karta_interpreter.engine.operations.interpret_replica import units_and_pods
from karta_interpreter.engine.operations.interpretation import (
    OnPrint,
    as_served,
    has_scripts_alone,
    interpret,
    script_errors,
    script_jobs,
    script_results,
)
from karta_interpreter.engine.operations.left_out import resources_left_out
from karta_interpreter.engine.operations.list_matching import Correspondence, respelled, unless_broken
from karta_interpreter.engine.operations.managers import MANAGED_FIELDS, MOST_ENTRIES, karmadas_managers, manager_of
from karta_interpreter.engine.operations.native_interpreters import CARRIED, NATIVE, natively_answered
from karta_interpreter.engine.operations.retain import (
    RETAIN_REPLICAS,
    RetainStep,
    cannot_change,
    is_queued,
    kept_as_it_runs,
    resumed_values,
    retain,
    retain_steps,
    switches,
    unset_switches,
)

__all__ = [
    "CARRIED",
    "CHANGED",
    "COUNTING_OPERATIONS",
    "DEFAULT_OPTIONS",
    "ELSEWHERE",
    "IDENTITY",
    "ITEM_FIELDS",
    "LIVE",
    "MANAGED_FIELDS",
    "MOST_ENTRIES",
    "NATIVE",
    "RETAIN_REPLICAS",
    "SLOTS",
    "Call",
    "Correspondence",
    "OnPrint",
    "Operation",
    "Options",
    "Results",
    "RetainStep",
    "StatusItem",
    "TargetComponent",
    "absent_status",
    "as_served",
    "by_operation",
    "cannot_change",
    "counted",
    "dependency_selector",
    "has_scripts_alone",
    "healthy_statuses",
    "interpret",
    "is_behind",
    "is_queued",
    "is_stale",
    "karmadas_managers",
    "kept_as_it_runs",
    "left_out_text",
    "manager_of",
    "named_objects",
    "natively_answered",
    "own_answer",
    "projection_of",
    "reads_of_karta",
    "resources_left_out",
    "respelled",
    "resumed_values",
    "retain",
    "retain_steps",
    "script_errors",
    "script_jobs",
    "script_results",
    "switches",
    "units_and_pods",
    "unless_broken",
    "unread_reports",
    "unset_switches",
    "why_left_out",
]
