"""AggregateStatus: one status for the template from the statuses of the member clusters.

The order of work: each cluster's status (`member_status`), merged field by field (`merge`, `reduce`) and condition by
condition (`conditions`); then what the template's own status allows (`completion`, `status_history`, `generation`).
A template without a cluster is in `unplaced`.
"""

from karta_interpreter.operations.aggregate.status import aggregate_status

__all__ = ["aggregate_status"]
