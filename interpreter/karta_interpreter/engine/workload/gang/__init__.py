"""Which pods of a workload start together: where each pod belongs, its group, and the group's minimum."""
