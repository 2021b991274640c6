"""Finds the pods of a workload that start together: each pod's place, its group, and the group's minimum."""
