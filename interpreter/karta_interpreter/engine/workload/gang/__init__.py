"""Which pods of a workload start together: where each pod belongs, its group, and how many the group waits for."""
